"""Follow the driver calls of one process, and find its timing windows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ..audit.capturing import Capturing
from .contexts import SHARED, Contexts
from .errors import FindingsError
from .pairs import window_of
from .streams import LEGACY, PER_THREAD, Last, Point, Stream, Streams
from .window import ALL_STREAMS, LAUNCHES_KEPT, UNJOINED_KEPT, Counts, Event, Mark, Moment, Window

SAMPLE_START, SAMPLE_END = -1, -2
"""In place of handles: the events of the loop of inline timing, which calls the driver behind the shim."""

EVENTS_MAX = 1 << 17
OPEN_MARKS = 8
"""Records that later work is checked against: those of the windows that may be open."""

THREADS_MAX = 1 << 12


@dataclass(slots=True)
class Thread:
    """`mark` is the last record of an event with timing, `window` the last one that ended a window."""

    kernels: int = 0
    mark: Mark | None = None
    launches: set[int] = field(default_factory=set)
    window_end: Mark | None = None


class Process:
    """State of one process. Each method is one driver call that succeeded."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.streams = Streams()
        self.contexts = Contexts()
        self.counts = Counts()
        self.windows = 0
        self.asked = 0
        self.unasked: list[Mark] = []
        self.unasked_count = 0
        self.unknown_events: list[Moment] = []
        self.unknown_count = 0
        self.forgotten_events = 0
        self._events: dict[int, Event] = {}
        self._threads: dict[int, Thread] = {}
        self._open: deque[Mark] = deque(maxlen=OPEN_MARKS)
        self.capturing = Capturing()
        self._default_streams: dict[tuple[int, int], int] = {}

    def stream_key(self, handle: int, per_thread: bool, thread: int) -> int:
        """One key for each stream; `per_thread`: handle 0 is the thread's default stream."""
        context = self.contexts.current(thread)
        if handle == PER_THREAD or (handle == 0 and per_thread):
            return self._default_stream(context, thread)
        return self.legacy_stream(context) if handle in (0, LEGACY) else self.streams.key_of(handle)

    def legacy_stream(self, context: int) -> int:
        return LEGACY if context == SHARED else self._default_stream(context, -1)

    def _default_stream(self, context: int, thread: int) -> int:
        """The key of a default stream, above all handles; `thread` is -1 for the legacy stream."""
        key = self._default_streams.get((context, thread))
        if key is None:
            if len(self._default_streams) >= THREADS_MAX:
                raise FindingsError(
                    f"a process has more than {THREADS_MAX} default streams; findings follows no more"
                )
            key = self._default_streams[context, thread] = (1 << 64) + len(self._default_streams)
            self.streams.stream(key, key if thread < 0 else self.legacy_stream(context))
        return key

    def create_stream(self, at: Moment, handle: int, is_blocking: bool) -> None:
        self.streams.create(handle, is_blocking, self.legacy_stream(self.contexts.current(at.thread)))

    # --- work ---------------------------------------------------------------------------------------------

    def kernel(self, at: Moment, stream: int, launch: int, parameters: int) -> None:
        """`launch` and `parameters` are hashes: of the kernel and its shape, and of its parameters."""
        self.counts.kernels += 1
        self.counts.parameter_hash += parameters
        self._thread(at.thread).kernels += 1
        self._late(at)
        self._launch(at, stream, launch)

    def graph(self, at: Moment, stream: int, launch: int, kernels: int | None) -> None:
        """`kernels` is None if they are not known."""
        if kernels == 0:
            self.copy(at, stream, is_set=True, is_read=False, waits=False)
        else:
            self.counts.graphs += 1
            self._launch(at, stream, launch)

    def _launch(self, at: Moment, stream: int, launch: int) -> None:
        thread = self._thread(at.thread)
        self.counts.launch_hash += launch
        if len(thread.launches) < LAUNCHES_KEPT:
            thread.launches.add(launch)
        operation = self.streams.operate(stream)
        operation.kernel = Last(operation.number, at.line)
        for mark in self._open:
            if mark.too_early is None and not self._is_after(operation, mark):
                mark.too_early = operation.number, at.line

    def copy(self, at: Moment, stream: int, *, is_set: bool, is_read: bool, waits: bool) -> None:
        if stream in self.capturing:
            return
        self.counts.sets += is_set
        self.counts.copies += not is_set
        self.counts.reads += is_read
        operation = self.streams.operate(stream)
        operation.other = Last(operation.number, at.line)
        if waits:
            self._finish(at, self.streams.point(stream))

    def host_function(self, at: Moment, stream: int) -> None:
        if stream not in self.capturing:
            self.counts.host_functions += 1
            operation = self.streams.operate(stream)
            operation.other = Last(operation.number, at.line)

    def gate(self, stream: int) -> None:
        """A stream waits for a value in memory, or writes one."""
        if stream not in self.capturing:
            self.counts.gates += 1
            self.streams.operate(stream)

    def load(self) -> None:
        self.counts.loads += 1

    # --- order --------------------------------------------------------------------------------------------

    def wait(self, stream: int, event: int) -> None:
        if self.capturing.wait(stream, event):
            return
        mark = self._mark(event)
        if mark is not None:
            mark.is_awaited = True
            self.streams.wait(stream, mark.point)
            self.streams.operate(stream)

    def wait_all(self, event: int) -> None:
        """All streams wait for an event."""
        for stream in [each.key for each in self.streams]:
            self.wait(stream, event)

    def synchronize(self, at: Moment, context: int) -> None:
        """The host has waited for a context."""
        if len(self.contexts):
            self.streams.finish_context(self.legacy_stream(context))
        else:
            self.streams.finish_all()
        self._done(at)

    def synchronize_stream(self, at: Moment, stream: int) -> None:
        self.streams.operate(stream)  # on the legacy stream also a wait for all blocking ones
        self._finish(at, self.streams.point(stream))

    def synchronize_event(self, at: Moment, event: int) -> None:
        mark = self._mark(event)
        if mark is not None:
            mark.is_awaited = True
            _note_wait(mark, at)
            self._finish(at, mark.point)

    # --- events -------------------------------------------------------------------------------------------

    def create_event(self, event: int, has_timing: bool) -> None:
        self.destroy_event(event)
        if len(self._events) >= EVENTS_MAX:
            self._events.pop(next(iter(self._events)))
            self.forgotten_events += 1
        self._events[event] = Event(has_timing)

    def destroy_event(self, event: int) -> None:
        known = self._events.pop(event, None)
        self.capturing.forget(event)
        if known is not None:
            self._drop(known)

    def record(self, at: Moment, event: int, stream: int) -> None:
        if self.capturing.record(event, stream):
            return
        operation = self.streams.operate(stream)
        self._record(at, event, stream, operation.number, self.streams.point(stream))

    def record_all(self, at: Moment, event: int) -> None:
        """An event that waits for all streams."""
        self.capturing.forget(event)
        number = max((each.number for each in self.streams), default=0)
        self._record(at, event, ALL_STREAMS, number, self.streams.point_of_all())

    def _record(self, at: Moment, event: int, stream: int, number: int, point: Point) -> None:
        if event not in self._events:
            self.create_event(event, has_timing=True)
        known, thread = self._events[event], self._thread(at.thread)
        mark = Mark(
            at,
            number,
            stream,
            point,
            self.counts.copy(thread.kernels),
            self.streams.is_idle(),
            self._unjoined(point, is_kernel=True),
            self._unjoined(point, is_kernel=False),
            frozenset(thread.launches),
            thread.mark.number if thread.mark is not None else 0,
        )
        self._drop(known)
        known.earlier, known.mark = None if known.is_used else known.mark, mark
        known.is_used = False
        if known.has_timing:
            self._leave(thread, at)
            thread.mark = mark
            thread.launches.clear()
            self._open.append(mark)

    def elapsed(self, at: Moment, start: int, end: int, time_ns: float | None) -> Window | None:
        """The window of an elapsed-time call; None if one of the events was never seen to be recorded."""
        self.asked += 1
        first, last = self._events.get(start, Event()), self._events.get(end, Event())
        begin, finish = first.mark, last.mark
        if begin is None or finish is None:
            self._note_unknown(at)
            return None
        thread = self._thread(begin.moment.thread)
        if finish is thread.mark:
            self._leave(thread, at)
        self.windows += 1
        window = window_of(self.windows, at, time_ns, first, last, thread.window_end)
        thread.window_end = finish
        begin.is_awaited = finish.is_awaited = True
        first.earlier = last.earlier = None
        first.is_used = last.is_used = True
        return window

    # --- samples of inline timing -------------------------------------------------------------------------

    def begin_sample(self, at: Moment) -> None:
        """The loop has waited for the device. Its start event follows, on the legacy stream, behind work of its own."""
        self.synchronize(at, SHARED)
        self.record(at, SAMPLE_START, self.legacy_stream(SHARED))
        start = self._mark(SAMPLE_START)
        assert start is not None
        start.is_idle = False
        start.is_awaited = True  # a sample whose call fails has no end

    def end_sample(self, at: Moment, joins_all: bool) -> None:
        """The loop has recorded its end event, which waits for all streams or for the legacy stream."""
        if joins_all:
            self.record_all(at, SAMPLE_END)
        else:
            self.record(at, SAMPLE_END, self.legacy_stream(SHARED))

    def sample(self, at: Moment) -> Window | None:
        """The window of the sample that ended last; None without a sample, or if the window was returned before.

        Call it when the process goes on behind the sample: launches of other threads until then are late.
        """
        end = self._events.get(SAMPLE_END)
        if end is None or end.mark is None or end.is_used:
            return None
        return self.elapsed(at, SAMPLE_START, SAMPLE_END, None)

    def _note_unknown(self, at: Moment) -> None:
        """A time was asked for an event without a record in the log. Forgotten events are reported by themselves."""
        if not self.forgotten_events:
            self.unknown_count += 1
            self.unknown_events = self.unknown_events or [at]

    def finish(self) -> None:
        """The process has ended."""
        for event in self._events.values():
            self._drop(event)

    # --- inside -------------------------------------------------------------------------------------------

    def _thread(self, number: int) -> Thread:
        thread = self._threads.get(number)
        if thread is None:
            if len(self._threads) >= THREADS_MAX:
                self._threads.pop(next(iter(self._threads)))
            thread = self._threads[number] = Thread()
        return thread

    def _mark(self, event: int) -> Mark | None:
        known = self._events.get(event)
        return known.mark if known is not None else None

    def _is_after(self, operation: Stream, mark: Mark) -> bool:
        """Whether an operation cannot begin before the event of `mark` happens."""
        return (
            mark.stream in (operation.key, ALL_STREAMS)
            or operation.seen.get(mark.stream, 0) >= mark.number
            or self.streams.is_done(mark.stream, mark.number)
        )

    def _unjoined(self, point: Point, *, is_kernel: bool) -> list[Last]:
        """The newest work that `point` does not wait for, in the order of the streams."""
        result = []
        for stream in self.streams:
            last = stream.kernel if is_kernel else stream.other
            if last.number and not self.streams.is_behind(stream.key, point, last.number):
                result.append(last)
        if len(result) <= UNJOINED_KEPT:
            return result
        oldest = sorted(last.number for last in result)[-UNJOINED_KEPT]
        return [last for last in result if last.number >= oldest]

    def _finish(self, at: Moment, point: Point) -> None:
        self.streams.finish(point)
        self._done(at)

    def _done(self, at: Moment) -> None:
        for mark in self._open:
            if self.streams.is_done(mark.stream, mark.number):
                _note_wait(mark, at)

    def _late(self, at: Moment) -> None:
        """Count a launch against the last records of the other threads."""
        for mark in self._open:
            if mark.moment.thread != at.thread and mark.late_kernels is None and not mark.late_line:
                mark.late_line = at.line

    def _leave(self, thread: Thread, at: Moment) -> None:
        """The thread goes on after its last record: count what others launched since."""
        mark = thread.mark
        if mark is not None and mark.late_kernels is None:
            others = self.counts.kernels - mark.counts.kernels - (thread.kernels - mark.counts.own_kernels)
            mark.late_kernels = others if at.line > mark.moment.line else 0

    def _drop(self, event: Event) -> None:
        """The last record of an event is replaced: was it a start whose time nobody asked for?"""
        mark = event.mark
        if mark is None or not event.has_timing or mark.is_awaited or mark.late_kernels is None:
            return
        if self.counts.work > mark.counts.work:
            self.unasked_count += 1
            if len(self.unasked) < LAUNCHES_KEPT:
                self.unasked.append(mark)


def _note_wait(mark: Mark, at: Moment) -> None:
    """The host has waited for a record; the first wait counts."""
    if mark.done_at is None:
        mark.done_at, mark.waited_ns = at.ended, at.ended - at.began
