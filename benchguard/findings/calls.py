"""Translate log lines into calls of a Process's methods, by the driver function's name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ..audit.capturing import ends_capture
from .fields import Line
from .process import Process
from .streams import NON_BLOCKING
from .window import DISABLE_TIMING, Moment

_SUFFIX = re.compile(r"(_v[0-9])?(_ptsz|_ptds)?$")


@lru_cache(4096)
def base_name(call: str) -> tuple[str, bool]:
    """A function's name in the documentation, and whether stream 0 is the thread's default stream in this form."""
    return _SUFFIX.sub("", call), call.endswith(("_ptsz", "_ptds"))


def follow(process: Process, at: Moment, line: Line) -> None:
    """Apply a `call` line of a function other than cuEventElapsedTime."""
    name, per_thread = base_name(line.text("call"))
    group = line.text_or_none("group")
    action = _ACTIONS.get(name) or _GROUPS.get(group or "")
    result = line.integer("result")
    if action is not None and (result == 0 or (name == "cuStreamEndCapture" and ends_capture(result))):
        action(process, at, line, per_thread)


_Action = Callable[[Process, Moment, Line, bool], None]


def _stream(process: Process, at: Moment, line: Line, per_thread: bool) -> int:
    return process.stream_key(line.argument("hStream", "stream"), per_thread, at.thread)


def _record(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    process.record(at, line.argument("hEvent"), _stream(process, at, line, per_thread))


def _wait(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    process.wait(_stream(process, at, line, per_thread), line.argument("hEvent"))


def _copy(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    name, _ = base_name(line.text("call"))
    has_stream = line.has_argument("hStream")
    stream = (
        _stream(process, at, line, per_thread) if has_stream else process.stream_key(0, per_thread, at.thread)
    )
    is_read = "toH" in name
    waits = not has_stream and (is_read or "Hto" in name)  # other copies return before they are done
    process.copy(at, stream, is_set=False, is_read=is_read, waits=waits)


def _set(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    has_stream = line.has_argument("hStream")
    stream = (
        _stream(process, at, line, per_thread) if has_stream else process.stream_key(0, per_thread, at.thread)
    )
    process.copy(at, stream, is_set=True, is_read=False, waits=False)


def _create_event(process: Process, at: Moment, line: Line, per_thread: bool) -> None:  # noqa: ARG001
    process.create_event(line.argument("phEvent"), not line.argument("Flags", "flags") & DISABLE_TIMING)


def _create_stream(process: Process, at: Moment, line: Line, per_thread: bool) -> None:  # noqa: ARG001
    process.create_stream(at, line.argument("phStream"), not line.argument("Flags", "flags") & NON_BLOCKING)


def _synchronize(process: Process, at: Moment, line: Line, per_thread: bool) -> None:  # noqa: ARG001
    contexts = process.contexts
    has_context = line.has_argument("ctx")
    process.synchronize(
        at, contexts.known(line.argument("ctx")) if has_context else contexts.current(at.thread)
    )


def _synchronize_stream(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    process.synchronize_stream(at, _stream(process, at, line, per_thread))


def _synchronize_event(process: Process, at: Moment, line: Line, per_thread: bool) -> None:  # noqa: ARG001
    process.synchronize_event(at, line.argument("hEvent"))


def _callback(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    process.host_function(at, _stream(process, at, line, per_thread))


def _gate(process: Process, at: Moment, line: Line, per_thread: bool) -> None:
    process.gate(_stream(process, at, line, per_thread))


def _load(process: Process, at: Moment, line: Line, per_thread: bool) -> None:  # noqa: ARG001
    process.load()


_LOADS = (
    "cuModuleLoad", "cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoadFatBinary", "cuLibraryLoadData",
    "cuLibraryLoadFromFile", "cuLinkComplete",
)  # fmt: skip

_GATES = (
    "cuStreamWaitValue32", "cuStreamWaitValue64", "cuStreamWriteValue32", "cuStreamWriteValue64",
    "cuStreamBatchMemOp",
)  # fmt: skip

_ACTIONS: dict[str, _Action] = {
    "cuEventRecord": _record,
    "cuEventRecordWithFlags": _record,
    "cuCtxRecordEvent": lambda process, at, line, _: process.record_all(at, line.argument("hEvent")),
    "cuGreenCtxRecordEvent": lambda process, at, line, _: process.record_all(at, line.argument("hEvent")),
    "cuStreamWaitEvent": _wait,
    "cuCtxWaitEvent": lambda process, _, line, __: process.wait_all(line.argument("hEvent")),
    "cuGreenCtxWaitEvent": lambda process, _, line, __: process.wait_all(line.argument("hEvent")),
    "cuEventCreate": _create_event,
    "cuEventDestroy": lambda process, _, line, __: process.destroy_event(line.argument("hEvent")),
    "cuStreamCreate": _create_stream,
    "cuStreamCreateWithPriority": _create_stream,
    "cuGreenCtxStreamCreate": _create_stream,
    "cuStreamDestroy": lambda process, _, line, __: process.streams.destroy(line.argument("hStream")),
    "cuCtxSynchronize": _synchronize,
    "cuCtxCreate": lambda process, at, line, _: process.contexts.create(at.thread, line.argument("pctx")),
    "cuCtxDestroy": lambda process, _, line, __: process.contexts.destroy(line.argument("ctx")),
    "cuCtxSetCurrent": lambda process, at, line, _: process.contexts.set(at.thread, line.argument("ctx")),
    "cuCtxPushCurrent": lambda process, at, line, _: process.contexts.push(at.thread, line.argument("ctx")),
    "cuCtxPopCurrent": lambda process, at, _, __: process.contexts.pop(at.thread),
    "cuStreamSynchronize": _synchronize_stream,
    "cuStreamQuery": _synchronize_stream,
    "cuEventSynchronize": _synchronize_event,
    "cuEventQuery": _synchronize_event,
    "cuLaunchHostFunc": _callback,
    "cuStreamAddCallback": _callback,
    "cuStreamBeginCapture": lambda process, at, line, ptsz: process.capturing.begin(
        _stream(process, at, line, ptsz)
    ),
    "cuStreamBeginCaptureToGraph": lambda process, at, line, ptsz: process.capturing.begin(
        _stream(process, at, line, ptsz)
    ),
    "cuStreamEndCapture": lambda process, at, line, ptsz: process.capturing.end(
        _stream(process, at, line, ptsz)
    ),
    **dict.fromkeys(_GATES, _gate),
    **dict.fromkeys(_LOADS, _load),
}
_GROUPS: dict[str, _Action] = {"copy": _copy, "set": _set}
