"""Streams in stream capture, and events that were recorded in it: neither does anything at the time of the call."""

from __future__ import annotations

EVENTS_MAX = 1 << 16
_GOES_ON = frozenset({903, 908})
"""Results of an end of stream capture that leave it as it was: UNMATCHED and WRONG_THREAD."""


def ends_capture(result: int) -> bool:
    """Whether a stream capture has ended with cuStreamEndCapture: also an invalid one does, without a graph."""
    return result not in _GOES_ON


class Capturing:
    """Which streams of a process are being captured, each with the stream where that stream capture began."""

    def __init__(self) -> None:
        self._streams: dict[int, int] = {}
        self._events: dict[int, int] = {}

    def __contains__(self, stream: int) -> bool:
        return stream in self._streams

    def begin(self, stream: int) -> None:
        self._streams[stream] = stream

    def __bool__(self) -> bool:
        return bool(self._streams or self._events)

    def end(self, stream: int) -> None:
        """End the stream capture that began on a stream; streams that joined it leave it."""
        self._streams = {key: origin for key, origin in self._streams.items() if origin != stream}

    def record(self, event: int, stream: int) -> bool:
        """Whether the record of an event belongs to a stream capture."""
        if stream not in self._streams:
            self.forget(event)
            return False
        if len(self._events) < EVENTS_MAX:
            self._events[event] = self._streams[stream]
        return True

    def wait(self, stream: int, event: int) -> bool:
        """Whether a stream's wait for an event belongs to a stream capture, which the stream then joins."""
        if event in self._events:
            self._streams[stream] = self._events[event]
        return stream in self._streams

    def forget(self, event: int) -> None:
        self._events.pop(event, None)
