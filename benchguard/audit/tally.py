"""Count the lines of an audit log in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from . import entries
from .calls import EXPORT_TABLES
from .captured_calls import CapturedCalls
from .copies import bytes_of, direction_of, is_asynchronous, is_copy
from .durations import Durations
from .graph_times import GraphTimes, gpu_time
from .log import LogError
from .memory import ProcessMemory
from .memory_calls import ALLOCATIONS
from .names import SUCCESS, describe_arguments, error_name, is_failure, plain_name
from .order import InOrder
from .rows import CallRow, CopyRow, DecisionRow, FailureRow, ImageRow, KernelRow, Summary

ROWS_MAX = 4096
"""Limit of kernels, images, calls, failures and processes, because the measured program chooses their number."""
SHAPES_MAX = 1 << 16
NODES_MAX = 1 << 20
TEXTS_MAX = 1000
ALIVE_MAX = 1000
CHARACTERS_MAX = 16 << 20
"""Limit of the names of all rows together. A record's name has 16 KiB at most, but that of a forged log 4 MiB."""

Shape = tuple[tuple[int, ...], tuple[int, ...]]
KernelKey = tuple[str, str | None]
Watch = Callable[[entries.CallEntry, ProcessMemory], None]
"""Called after each call that may have changed the memory of its process."""

_Ordered = entries.CallEntry | entries.ProcessEntry | entries.LostEntry


@dataclass
class _Kernel:
    launches: int = 0
    graph_launches: int = 0
    failed: int = 0
    host: Durations = field(default_factory=Durations)
    gpu: Durations = field(default_factory=Durations)
    early: int = 0
    shapes: Counter[Shape] = field(default_factory=Counter)


@dataclass
class _Calls:
    failed: int = 0
    results: Counter[int] = field(default_factory=Counter)
    host: Durations = field(default_factory=Durations)


@dataclass
class _Copies:
    failed: int = 0
    bytes: int = 0
    unsized: int = 0
    host: Durations = field(default_factory=Durations)


@dataclass
class _Failure:
    first: entries.CallEntry | entries.LaunchEntry | entries.GraphLaunchEntry
    line: int
    count: int = 0


class Tally:
    """Counts log lines, in the order of the log."""

    def __init__(self, watch: Watch | None = None, log: Path | None = None) -> None:
        self._watch = watch
        self._log = log
        self._session: entries.SessionEntry | None = None
        self._gpu_overhead_ns: int | None = None
        self._end: entries.EndEntry | None = None
        self._api = "cuda"
        self._kernels: dict[KernelKey, _Kernel] = {}
        self._images: dict[tuple[str | None, str], entries.ImageEntry] = {}
        self._loads: Counter[tuple[str | None, str]] = Counter()
        self._graphs: dict[tuple[int, int], Counter[tuple[KernelKey, Shape]]] = {}
        self._calls: dict[str, _Calls] = {}
        self._failures: dict[tuple[str, int], _Failure] = {}
        self._decisions: dict[tuple[str, ...], tuple[entries.DecisionEntry, int]] = {}
        self._decided: Counter[tuple[str, ...]] = Counter()
        self._denied = 0
        self._copies: dict[tuple[str, bool], _Copies] = {}
        self._stream_captures: dict[int, CapturedCalls] = {}
        self._captured_copies = 0
        self._memory: dict[int, ProcessMemory] = {}
        self._past: list[ProcessMemory] = []
        self._ordered: InOrder[tuple[int, _Ordered]] = InOrder()
        self._latest: dict[tuple[int, int], int] = {}
        self._unmapped: Counter[str] = Counter()
        self._in_flight: list[str] = []
        self._notes: list[str] = []
        self._limits: dict[str, None] = {}
        self._failed_launches = self._captured = self._export_tables = self._other_calls = 0
        self._shapes = self._nodes = 0
        self._launches = self._graph_launches = self._failed_calls = 0  # those without a row, too
        self._timeable = self._timed = self._timed_graphs = 0
        self._graph_times = GraphTimes(ROWS_MAX)
        self._lines = self._characters = 0

    def add(self, line: dict[str, Any]) -> None:
        """Count a line. Raises LogError if neutrino-bench does not write such lines."""
        try:
            entry = entries.parse_entry(line)
        except msgspec.ValidationError as error:
            where = f"{self._log}, " if self._log is not None else ""
            raise LogError(
                f"{where}line {self._lines + 1}: not a line of an audit log: {error}; the line was altered"
            ) from error
        self.add_entry(entry)

    def add_entry(self, entry: entries.Line | None) -> None:
        """Count a line that was parsed; None is a line of an unknown kind."""
        self._lines += 1
        handler = _HANDLERS.get(type(entry))
        if handler is not None:
            handler(self, entry)

    def _has_room(self, rows: Any, key: Any, what: str, limit: int = ROWS_MAX) -> bool:
        if key in rows:
            return True
        if len(rows) >= limit:
            self._limits[f"only the first {limit:,} {what} are listed"] = None
            return False
        characters = self._characters + _characters_of(key)
        if characters > CHARACTERS_MAX:
            self._limits[f"some {what} are not listed, because their names are too long"] = None
            return False
        self._characters = characters
        return True

    def _keep(self, texts: list[str], text: str, what: str) -> None:
        if self._has_room(texts, (text,), what, TEXTS_MAX):
            texts.append(text)

    def _in_order(self, entry: entries.ProcessEntry | entries.LostEntry) -> None:
        self._take(self._ordered.push(entry.time_ns, (self._lines, entry)))

    def _add_unmapped(self, entry: entries.UnmappedEntry) -> None:
        if self._has_room(self._unmapped, entry.name, "unmapped entry points", TEXTS_MAX):
            self._unmapped[entry.name] += 1

    def _add_in_flight(self, entry: entries.InFlightEntry) -> None:
        self._keep(self._in_flight, entry.call, "calls in flight")

    def _note(self, entry: entries.NoteEntry) -> None:
        self._keep(self._notes, entry.text, "notes")

    def _decide(self, entry: entries.DecisionEntry) -> None:
        self._denied += entry.action == "deny"
        key = entry.rule, entry.action, entry.call, entry.phase, entry.origin
        if self._has_room(self._decisions, key, "decisions of the policy", TEXTS_MAX):
            self._decisions.setdefault(key, (entry, self._lines))
            self._decided[key] += 1

    def _begin_session(self, entry: entries.SessionEntry) -> None:
        self._session, self._api = entry, entry.api
        self._gpu_overhead_ns = entry.gpu_overhead_ns if entry.gpu_overhead_ns is not msgspec.UNSET else None

    def _end_session(self, entry: entries.EndEntry) -> None:
        self._end = entry

    def _count(
        self, entry: entries.CallEntry | entries.LaunchEntry | entries.GraphLaunchEntry, count: int
    ) -> None:
        """Count a call of any kind: its time, its result, and its failure."""
        self._failed_calls += count * is_failure(entry.call, entry.result)
        if not self._has_room(self._calls, entry.call, "calls"):
            return
        calls = self._calls.setdefault(entry.call, _Calls())
        calls.host.add(entry.duration_ns // count, count)
        if entry.result == SUCCESS:
            return
        calls.results[entry.result] += count
        if is_failure(entry.call, entry.result):
            calls.failed += count
            key = entry.call, entry.result
            if self._has_room(self._failures, key, "different failures"):
                self._failures.setdefault(key, _Failure(entry, self._lines)).count += count

    def _call(self, entry: entries.CallEntry) -> None:
        self._other_calls += entry.count
        self._count(entry, entry.count)
        self._export_tables += entry.call in EXPORT_TABLES
        # An allocation takes effect before its call returns, a free after its call began.
        ends = entry.result != SUCCESS or plain_name(entry.call) in ALLOCATIONS
        time_ns = entry.time_ns + (entry.duration_ns if ends else 0)
        # Clocks are interpolated anew in every pass of the log's writer, but the calls of one thread are in order.
        thread = entry.process, entry.thread
        time_ns = max(time_ns, self._latest.get(thread, time_ns))
        if len(self._latest) >= ROWS_MAX:
            self._latest.clear()
        self._latest[thread] = time_ns
        self._take(self._ordered.push(time_ns, (self._lines, entry)))

    def _take(self, events: Iterable[tuple[int, _Ordered]]) -> None:
        """Follow the memory of each process."""
        for line, entry in events:
            if isinstance(entry, entries.ProcessEntry):
                self._begin(entry)
            elif isinstance(entry, entries.LostEntry):  # perhaps of the end of a stream capture
                self._stream_captures.pop(entry.process, None)
            elif (memory := self._memory_of(entry.process)) is not None:
                name = plain_name(entry.call)
                if self._stream_captures.setdefault(entry.process, CapturedCalls()).takes(name, entry):
                    self._captured_copies += is_copy(name)
                    memory.ranges.is_partial |= name in ALLOCATIONS  # each launch of the graph allocates
                elif is_copy(name):
                    self._copy(name, entry, memory)
                else:
                    memory.add(entry, line)
                    if self._watch is not None:
                        self._watch(entry, memory)

    def _begin(self, entry: entries.ProcessEntry) -> None:
        """A process number that comes again is that of another program: of an exec, or of a later process."""
        memory = self._memory.get(entry.process)
        self._stream_captures.pop(entry.process, None)
        if memory is not None and memory.executable:
            self._past.append(self._memory.pop(entry.process))
        memory = self._memory_of(entry.process)
        if memory is not None:
            memory.executable = entry.executable

    def _memory_of(self, process: int) -> ProcessMemory | None:
        if process not in self._memory and len(self._past) + len(self._memory) >= ROWS_MAX:
            self._limits[f"only the memory of the first {ROWS_MAX:,} processes is listed"] = None
            return None
        return self._memory.setdefault(process, ProcessMemory(self._api, process))

    def _copy(self, name: str, entry: entries.CallEntry, memory: ProcessMemory) -> None:
        direction = direction_of(name, entry.arguments, memory.ranges)
        copies = self._copies.setdefault((direction, is_asynchronous(name)), _Copies())
        if entry.result != SUCCESS:
            copies.failed += 1
            return
        size = bytes_of(name, entry.arguments)
        copies.host.add(entry.duration_ns)
        copies.bytes += size or 0
        copies.unsized += size is None

    def _kernel(self, line: entries.LaunchEntry | entries.GraphKernel) -> tuple[KernelKey, Shape]:
        return (line.demangled or line.name or "(unknown)", line.image), (line.grid, line.block)

    def _add_shape(self, kernel: _Kernel, shape: Shape, count: int = 1) -> None:
        if shape in kernel.shapes or not kernel.shapes or self._shapes < SHAPES_MAX:
            self._shapes += shape not in kernel.shapes
            kernel.shapes[shape] += count
        else:
            self._limits[f"only the first {SHAPES_MAX:,} shapes of launches are counted"] = None

    def _launch(self, entry: entries.LaunchEntry) -> None:
        self._count(entry, 1)
        key, shape = self._kernel(entry)
        failed = entry.result != SUCCESS
        self._failed_launches += failed
        self._captured += entry.captured and not failed
        self._launches += not failed and not entry.captured
        self._timeable += not failed and not entry.captured
        if (entry.captured and not failed) or not self._has_room(self._kernels, key, "kernels"):
            return
        kernel = self._kernels.setdefault(key, _Kernel())
        kernel.failed += failed
        if not failed:
            kernel.launches += 1
            kernel.host.add(entry.duration_ns)
        self._add_shape(kernel, shape, not failed)

    def _graph(self, entry: entries.GraphEntry) -> None:
        key = entry.process, entry.graph
        if not entry.first:  # else a graph that is too long for one line goes on
            self._nodes -= len(self._graphs.pop(key, ()))
        nodes = self._graphs.setdefault(key, Counter())
        before = len(nodes)
        nodes.update(map(self._kernel, entry.kernels))
        self._nodes += len(nodes) - before
        if self._nodes > NODES_MAX or len(self._graphs) > NODES_MAX:
            self._limits[
                f"launches by graphs are too low: graphs have more than {NODES_MAX:,} different nodes"
            ] = None
            self._graphs.clear()
            self._nodes = 0

    def _graph_launch(self, entry: entries.GraphLaunchEntry) -> None:
        self._count(entry, 1)
        self._graph_times.add_launch(entry)
        if entry.result != SUCCESS:
            self._failed_launches += 1
            return
        self._timeable += 1
        for (key, shape), count in self._graphs.get((entry.process, entry.graph), Counter()).items():
            self._graph_launches += count
            if self._has_room(self._kernels, key, "kernels"):
                kernel = self._kernels.setdefault(key, _Kernel())
                kernel.graph_launches += count
                self._add_shape(kernel, shape, count)

    def _launch_time(self, entry: entries.LaunchTimeEntry) -> None:
        self._timed += 1
        self._timed_graphs += entry.kernel is None
        self._graph_times.add_time(entry, self._gpu_overhead_ns or 0)
        key = entry.demangled or entry.name or "(unknown)", entry.image
        if entry.kernel is not None and self._has_room(self._kernels, key, "kernels"):
            kernel = self._kernels.setdefault(key, _Kernel())
            kernel.gpu.add(entry.gpu_ns - (self._gpu_overhead_ns or 0))
            kernel.early += entry.early

    def _image(self, entry: entries.ImageEntry) -> None:
        key = entry.sha256, entry.origin
        if self._has_room(self._images, key, "images"):
            self._images.setdefault(key, entry)
            self._loads[key] += 1

    def finish(self) -> None:
        """Take the calls that wait for their place in the order of time. Call this after the last line."""
        self._take(self._ordered.rest())

    def summary(self, head: str) -> Summary:
        """Everything that was counted. `head` is the hash of the last line."""
        self.finish()
        if self._graph_times.is_full:
            self._limits[f"only the first {ROWS_MAX:,} graphs are listed"] = None
        session, end = self._session, self._end
        has_all_calls = session is None or session.only_calls is msgspec.UNSET
        memories = [*self._past, *self._memory.values()] if has_all_calls else []
        if any(memory.is_cut for memory in memories):
            self._limits["allocations or refused frees of a process are left out: there are too many"] = None
        alive = [row for memory in memories for row in memory.alive()]
        if len(alive) > ALIVE_MAX:
            self._limits[f"only {ALIVE_MAX:,} of {len(alive):,} sizes of live allocations are listed"] = None
        is_complete = end is not None and end.complete
        if end is not None and end.calls_left_out:
            memory = "" if has_all_calls else ", so memory and copies are not followed"
            self._limits[f"{end.calls_left_out:,} successful calls have no line{memory}"] = None
        is_timing = session is not None and session.gpu_time is True
        by_image: Counter[str | None] = Counter()
        for (_, image), kernel in self._kernels.items():
            by_image[image] += kernel.launches + kernel.graph_launches
        return Summary(
            command=session.command if session else [],
            driver=str(session.driver.get("path", "")) if session else "",
            status=end.status if end else 0,
            kernels=sorted(map(self._kernel_row, self._kernels), key=lambda row: (-row.total, -row.failed)),
            images=sorted(
                (self._image_row(key, by_image) for key in self._images),
                key=lambda row: (-row.launches, row.origin),
            ),
            calls=sorted(map(self._call_row, self._calls), key=lambda row: -row.host.total_ns),
            failures=sorted(map(self._failure_row, self._failures), key=lambda row: row.line),
            decisions=[self._decision_row(key) for key in self._decisions],
            copies=sorted(
                (_copy_row(*each) for each in self._copies.items() if has_all_calls),
                key=lambda row: -row.bytes,
            ),
            memory=[row for memory in memories for row in memory.rows()],
            alive=alive[:ALIVE_MAX],
            bad_frees=[bad for memory in memories for bad in memory.bad_frees if is_complete or bad.is_sure],
            unmapped=sorted(self._unmapped),
            other_calls=end.calls if end else self._other_calls,
            launches=self._launches,
            graph_launches=self._graph_launches,
            failed_launches=self._failed_launches,
            captured_launches=self._captured,
            captured_copies=self._captured_copies,
            failed_calls=self._failed_calls,
            denied_calls=self._denied,
            processes=end.processes if end else 0,
            export_tables=self._export_tables,
            dropped=end.dropped if end else 0,
            images_dropped=end.images_dropped if end else 0,
            rings_exhausted=end.rings_exhausted if end else 0,
            corrupt_rings=end.corrupt_rings if end else 0,
            in_flight=self._in_flight,
            outlived=end.outlived if end else [],
            unobserved=end.unobserved if end else [],
            notes=self._notes,
            limits=list(self._limits),
            complete=is_complete,
            lines=self._lines,
            head=head,
            api=self._api,
            graphs=self._graph_times.rows(),
            gpu_time=is_timing,
            gpu_overhead_ns=self._gpu_overhead_ns,
            gpu_launches=self._timed,
            gpu_graph_launches=self._timed_graphs,
            gpu_unmeasured=max(self._timeable - self._timed, 0) if is_timing else 0,
        )

    def _kernel_row(self, key: KernelKey) -> KernelRow:
        kernel = self._kernels[key]
        # A kernel of which only a GPU time is in the log has no shape.
        grid, block = kernel.shapes.most_common(1)[0][0] if kernel.shapes else ((), ())
        library = next(
            (origin for sha256, origin in self._images if sha256 is not None and sha256 == key[1]), None
        )
        return KernelRow(
            key[0],
            key[1],
            kernel.launches,
            kernel.graph_launches,
            kernel.failed,
            kernel.host.summary(),
            grid,
            block,
            sum(map(bool, kernel.shapes.values())) or len(kernel.shapes),
            library,
            gpu_time(kernel.gpu, kernel.early),
        )

    def _image_row(self, key: tuple[str | None, str], by_image: Counter[str | None]) -> ImageRow:
        first = self._images[key]
        return ImageRow(
            first.sha256,
            first.format,
            first.bytes,
            first.origin,
            self._loads[key],
            by_image[first.sha256] if first.sha256 is not None else 0,
            first.note,
        )

    def _call_row(self, call: str) -> CallRow:
        calls = self._calls[call]
        errors = {error_name(self._api, result): count for result, count in calls.results.most_common()}
        return CallRow(call, calls.host.count, calls.failed, errors, calls.host.summary())

    def _decision_row(self, key: tuple[str, ...]) -> DecisionRow:
        first, line = self._decisions[key]
        kernel = [f"kernel={first.kernel}"] if first.kernel is not None else []
        given = kernel + describe_arguments(self._api, first.call, first.arguments)[0]
        return DecisionRow(
            first.rule,
            first.action,
            first.call,
            first.phase,
            first.origin,
            error_name(self._api, first.result) if first.action == "deny" else "",
            self._decided[key],
            line,
            " ".join(given),
        )

    def _failure_row(self, key: tuple[str, int]) -> FailureRow:
        failure = self._failures[key]
        first = failure.first
        if isinstance(first, entries.CallEntry):
            details = " ".join(describe_arguments(self._api, first.call, first.arguments)[0])
        elif isinstance(first, entries.LaunchEntry):
            grid, block = ("x".join(map(str, each)) for each in (first.grid, first.block))
            name = first.demangled or first.name or "(unknown)"
            details = f"kernel={name} grid={grid} block={block} shared_bytes={first.shared_bytes}"
        else:
            details = f"graph={first.graph}"
        return FailureRow(
            first.call,
            error_name(self._api, first.result),
            first.result,
            failure.count,
            failure.line,
            first.time_ns,
            first.process,
            first.thread,
            details,
        )


_HANDLERS: dict[type[Any], Callable[[Tally, Any], None]] = {
    entries.CallEntry: Tally._call,
    entries.LaunchEntry: Tally._launch,
    entries.GraphLaunchEntry: Tally._graph_launch,
    entries.LaunchTimeEntry: Tally._launch_time,
    entries.GraphEntry: Tally._graph,
    entries.ImageEntry: Tally._image,
    entries.ProcessEntry: Tally._in_order,
    entries.UnmappedEntry: Tally._add_unmapped,
    entries.InFlightEntry: Tally._add_in_flight,
    entries.LostEntry: Tally._in_order,
    entries.NoteEntry: Tally._note,
    entries.DecisionEntry: Tally._decide,
    entries.SessionEntry: Tally._begin_session,
    entries.EndEntry: Tally._end_session,
}
"""Kernels are not here: launches count them. Phases and later kinds are passed over."""


def _characters_of(key: Any) -> int:
    if isinstance(key, str):
        return len(key)
    return sum(map(_characters_of, key)) if isinstance(key, tuple) else 0


def _copy_row(key: tuple[str, bool], copies: _Copies) -> CopyRow:
    direction, asynchronous = key
    host = copies.host
    rate = None if asynchronous or not host.total else copies.bytes / (host.total / 1e9)
    count = host.count
    return CopyRow(
        direction, asynchronous, count, copies.failed, copies.bytes, copies.unsized, host.summary(), rate
    )
