"""Audit logs of programs that time kernels, made call by call through the real log writer."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchguard.audit.entries import CallEntry, GraphLaunchEntry, PhaseEntry, ProcessEntry
from benchguard.audit.log import LogWriter
from benchguard.ipc.json_text import json_line
from benchguard.toolchain.paths import INLINE_SONAME
from tests.support import logs

CALL_NS = 2_000
PROCESS, THREAD = 100, 1
_GROUPS = {
    "cuMem": "copy", "cuMemset": "set", "cuEvent": "event", "cuStream": "stream", "cuCtxSync": "synchronization",
    "cuModule": "module", "cuLaunch": "launch", "cuCtxRecord": "event",
}  # fmt: skip


class WindowLog:
    """The calls of one process. The device runs each piece of work the moment that it is launched, for `work_ns`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1_000_000
        self._writer = LogWriter(path)
        self._stamps: dict[int, int] = {}
        self.write(logs.session("./program"))
        self.write(ProcessEntry(0, PROCESS, THREAD, 1, "/bin/program", "/lib/libcuda.so.1"))

    def write(self, entry: Any) -> int:
        """Returns the line's number."""
        self._writer.write(json_line(entry))
        return self._writer.lines

    def call(
        self, name: str, *, thread: int = THREAD, result: int = 0, took: int = CALL_NS, **arguments: int
    ) -> int:
        group = next(
            (_GROUPS[key] for key in sorted(_GROUPS, key=len, reverse=True) if name.startswith(key)), None
        )
        number = self.write(CallEntry(self.now, took, PROCESS, thread, name, group, arguments, result))
        self.now += took
        return number

    def launch(
        self, stream: int = 0, *, name: str = "mix", thread: int = THREAD, work_ns: int = 50_000,
        parameters: tuple[str, ...] = ("00",), captured: bool = False, call: str = "cuLaunchKernel",
    ) -> int:  # fmt: skip
        line = {
            "kind": "launch", "time_ns": self.now, "duration_ns": CALL_NS, "process": PROCESS, "thread": thread,
            "call": call, "stream": stream, "kernel": 1, "name": name, "demangled": None, "image": "a" * 64,
            "grid": [16, 1, 1], "block": [256, 1, 1], "shared_bytes": 0, "cooperative": False, "captured": captured,
            "attributes": {"cluster": None, "others": []}, "parameters": list(parameters), "parameter_bytes": 1,
            "result": 0,
        }  # fmt: skip
        number = self.write(line)
        self.now += work_ns
        return number

    def graph(self, stream: int = 0, *, kernels: int | None = 2) -> int:
        entry = GraphLaunchEntry(self.now, CALL_NS, PROCESS, THREAD, "cuGraphLaunch", 1, stream, kernels, 0)
        self.now += 50_000
        return self.write(entry)

    def events(self, *handles: int) -> None:
        for handle in handles:
            self.call("cuEventCreate", phEvent=handle, Flags=0)

    def record(
        self, event: int, stream: int = 0, *, thread: int = THREAD, call: str = "cuEventRecord"
    ) -> int:
        self._stamps[event] = self.now
        return self.call(call, thread=thread, hEvent=event, hStream=stream)

    def elapsed(self, start: int, end: int, milliseconds: float | None = None) -> int:
        if milliseconds is None:
            milliseconds = (self._stamps[end] - self._stamps[start]) / 1e6
        (bits,) = struct.unpack("<I", struct.pack("<f", milliseconds))
        number = self.write(
            CallEntry(
                self.now, CALL_NS, PROCESS, THREAD, "cuEventElapsedTime_v2", "event",
                {"pMilliseconds": bits, "hStart": start, "hEnd": end}, 0, {"pMilliseconds": milliseconds},
            )
        )  # fmt: skip
        self.now += CALL_NS
        return number

    def synchronize(self, took: int = CALL_NS) -> int:
        return self.call("cuCtxSynchronize", took=took)

    @contextmanager
    def window(self, start: int = 1, end: int = 2, stream: int = 0) -> Iterator[None]:
        """A window as most graders make it: a flush, the events round the body, a wait, the time."""
        self.call("cuMemsetD32Async", dstDevice=4096, ui=0, N=64, hStream=stream)
        self.record(start, stream)
        yield
        self.record(end, stream)
        self.synchronize()
        self.elapsed(start, end)

    def phase(self, label: str, origin: str = INLINE_SONAME, thread: int = THREAD) -> int:
        number = self.write(
            PhaseEntry(self.now, PROCESS, thread, "timing", "program", label, f"/lib/{origin}")
        )
        self.now += CALL_NS
        return number

    @contextmanager
    def sample(self, number: int, *, joins_all: bool = True, origin: str = INLINE_SONAME) -> Iterator[None]:
        """A sample of inline timing, whose loop calls the driver behind the shim."""
        self.phase(f"case 0 sample {number}", origin)
        yield
        end = "queued" if joins_all else "queued, other streams unjoined"
        self.phase(f"case 0 sample {number} {end}", origin)

    def close(self, *, complete: bool = True, unobserved: tuple[str, ...] = ()) -> Path:
        end = logs.end(self.now, dropped=0 if complete else 3, unobserved=list(unobserved), complete=complete)
        self.write(end)
        self._writer.close()
        return self.path
