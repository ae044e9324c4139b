"""Which work a stream, an event or the host has waited for, as CUDA orders streams.

Each piece of work and each event record has a number. A stream knows, for every other stream, the number up to which it
waits. The legacy default stream waits for all streams that are not created as non-blocking, and these wait for
the legacy stream (CUDA driver API, "Stream synchronization behavior").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .errors import FindingsError

LEGACY, PER_THREAD = 1, 2
NON_BLOCKING = 1
STREAMS_MAX = 1024

Seen = Mapping[int, int]
"""For each stream the number up to which its work is waited for."""


@dataclass(slots=True)
class Last:
    """The last work of one sort on a stream."""

    number: int = 0
    line: int = 0


@dataclass(slots=True)
class Stream:
    """`number` is that of its last operation, event records and waits included. `legacy` is the key of its context's
    legacy default stream."""

    key: int
    legacy: int = LEGACY
    is_blocking: bool = True
    is_destroyed: bool = False
    number: int = 0
    seen: Seen = field(default_factory=dict)
    kernel: Last = field(default_factory=Last)
    other: Last = field(default_factory=Last)


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a stream: its operations up to `number`, and all that they wait for."""

    stream: int
    number: int
    seen: Seen

    def covers(self, stream: int, number: int) -> bool:
        return self.seen.get(stream, 0) >= number or (stream == self.stream and self.number >= number)


class Streams:
    """The streams of a process. Each context has a legacy default stream, whose key names the context."""

    def __init__(self) -> None:
        self._streams: dict[int, Stream] = {}
        self._number = 0
        self._keys: dict[int, int] = {}
        """Keys of handles whose earlier stream was destroyed before its work was done."""
        self._new_keys = 0
        self._done = 0
        """The host has waited for all work up to this number."""
        self._done_by_stream: dict[int, int] = {}

    def __iter__(self) -> Iterator[Stream]:
        return iter(self._streams.values())

    def stream(self, key: int, legacy: int = LEGACY) -> Stream:
        """The stream with this key; a new one belongs to the context of `legacy`."""
        stream = self._streams.get(key)
        if stream is None:
            if len(self._streams) >= STREAMS_MAX:
                self._forget_finished()
            stream = self._streams[key] = Stream(key, legacy)
        return stream

    def key_of(self, handle: int) -> int:
        """The key of the stream that has a handle now: the driver gives handles of destroyed streams again."""
        return self._keys.get(handle, handle)

    def create(self, handle: int, is_blocking: bool, legacy: int = LEGACY) -> None:
        self.destroy(handle)
        self.stream(self.key_of(handle), legacy).is_blocking = is_blocking

    def destroy(self, handle: int) -> None:
        """Forget a stream, but not unfinished work on it, which goes on under the same key."""
        key = self.key_of(handle)
        stream = self._streams.get(key)
        if stream is None or self.is_done(key, stream.number):
            self._streams.pop(key, None)
            self._done_by_stream.pop(key, None)
        else:
            stream.is_destroyed, stream.is_blocking = True, False
            self._new_keys -= 1
            self._keys[handle] = self._new_keys

    def operate(self, key: int) -> Stream:
        """Append an operation to a stream. Returns the stream, whose `number` is the operation's."""
        stream = self.stream(key)
        if key == stream.legacy:
            self._join_blocking(stream)
        elif stream.is_blocking and stream.legacy in self._streams:
            legacy = self._streams[stream.legacy]
            if legacy.number > stream.seen.get(legacy.key, 0):
                stream.seen = merged(stream.seen, self._point(legacy))
        if (
            len(stream.seen) > 2 * STREAMS_MAX
        ):  # destroyed streams: their handles get new numbers if used again
            stream.seen = {each: number for each, number in stream.seen.items() if each in self._streams}
        self._number += 1
        stream.number = self._number
        return stream

    def _join_blocking(self, legacy: Stream) -> None:
        """Let a legacy stream wait for the blocking streams of its context.

        A stream without new operations is passed over, or each operation would look at all pairs of streams.
        """
        for other in list(self._streams.values()):
            is_joined = other.is_blocking and other.legacy == legacy.key and other is not legacy
            if is_joined and other.number > max(self._done, legacy.seen.get(other.key, 0)):
                legacy.seen = merged(legacy.seen, self._point(other))

    def point(self, key: int) -> Point:
        return self._point(self.stream(key))

    def point_of_all(self) -> Point:
        """All work of all streams."""
        return Point(0, 0, {stream.key: stream.number for stream in self})

    def wait(self, key: int, point: Point) -> None:
        """Let the later operations of a stream wait for `point`."""
        stream = self.stream(key)
        stream.seen = merged(stream.seen, point)

    def finish(self, point: Point) -> None:
        """The host has waited for `point`."""
        for key, number in {**point.seen, point.stream: point.number}.items():
            if number > max(self._done, self._done_by_stream.get(key, 0)):
                self._done_by_stream[key] = number

    def finish_context(self, legacy: int) -> None:
        """The host has waited for all work of one context."""
        for stream in list(self):
            if stream.legacy == legacy:
                self.finish(self._point(stream))

    def finish_all(self) -> None:
        """The host has waited for all work."""
        self._done = self._number
        self._done_by_stream.clear()
        for stream in self:
            stream.seen = {}
        for stream in [each for each in self if each.is_destroyed]:
            del self._streams[stream.key]
        self._forget_keys()

    def is_done(self, key: int, number: int) -> bool:
        """Whether the host knows that an operation is done."""
        return number <= self._done or number <= self._done_by_stream.get(key, 0)

    def is_idle(self) -> bool:
        """Whether the host knows that all work is done."""
        return all(
            self.is_done(stream.key, max(stream.kernel.number, stream.other.number)) for stream in self
        )

    def is_behind(self, key: int, point: Point, number: int) -> bool:
        """Whether an operation of a stream is done or waited for at `point`."""
        return self.is_done(key, number) or point.covers(key, number)

    def _point(self, stream: Stream) -> Point:
        return Point(stream.key, stream.number, stream.seen)

    def _forget_finished(self) -> None:
        for key in [key for key, stream in self._streams.items() if self.is_done(key, stream.number)]:
            del self._streams[key]
        self._forget_keys()
        if len(self._streams) >= STREAMS_MAX:
            raise FindingsError(
                f"more than {STREAMS_MAX} streams of one process have unfinished work; findings follows no more"
            )

    def _forget_keys(self) -> None:
        """A handle without a stream can have its own number as key again."""
        self._keys = {
            handle: key
            for handle, key in self._keys.items()
            if key in self._streams or handle in self._streams
        }


def merged(seen: Seen, point: Point) -> Seen:
    """`seen` and what `point` waits for; the same object if nothing is new."""
    if point.number <= seen.get(point.stream, 0) and all(
        number <= seen.get(key, 0) for key, number in point.seen.items()
    ):
        return seen
    result = dict(seen)
    for key, number in (*point.seen.items(), (point.stream, point.number)):
        if number > result.get(key, 0):
            result[key] = number
    return result
