"""Which calls of a process stream capture took: they became nodes of a graph, and did nothing themselves."""

from __future__ import annotations

from .capturing import Capturing, ends_capture
from .entries import CallEntry
from .names import SUCCESS

_PER_THREAD = 2
_THREAD_FORMS = ("_ptds", "_ptsz", "_spt")
"""Endings of functions for which stream 0 is the thread's default stream."""


def _of_both(*verbs: str) -> frozenset[str]:
    return frozenset(vendor + verb for vendor in ("cu", "hip") for verb in verbs)


_BEGINS = _of_both("StreamBeginCapture", "StreamBeginCaptureToGraph")
_ENDS = _of_both("StreamEndCapture")
_RECORDS = _of_both("EventRecord", "EventRecordWithFlags")
_WAITS = _of_both("StreamWaitEvent")
_DESTROYS = _of_both("StreamDestroy")


class CapturedCalls:
    """Follows the stream captures of one process. Give it all calls, in the order of their effects."""

    def __init__(self) -> None:
        self._capturing = Capturing()

    def takes(self, name: str, call: CallEntry) -> bool:
        """Whether stream capture took a call. `name` is that of the documentation."""
        if not self._capturing and name not in _BEGINS:
            return False
        arguments = call.arguments
        handle = arguments.get("hStream", arguments.get("stream"))
        if handle is None:
            return False
        is_default = handle == _PER_THREAD or (handle == 0 and call.call.endswith(_THREAD_FORMS))
        stream = -call.thread if is_default else handle
        if name in _ENDS and ends_capture(call.result):
            self._capturing.end(stream)
        elif call.result == SUCCESS:
            self._follow(name, stream, arguments.get("hEvent", arguments.get("event", 0)))
        return call.result == SUCCESS and stream in self._capturing

    def _follow(self, name: str, stream: int, event: int) -> None:
        if name in _BEGINS:
            self._capturing.begin(stream)
        elif name in _DESTROYS:
            self._capturing.end(stream)
        elif name in _RECORDS:
            self._capturing.record(event, stream)
        elif name in _WAITS:
            self._capturing.wait(stream, event)
