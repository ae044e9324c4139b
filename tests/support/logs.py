"""Audit logs of chosen lines, written by the real log writer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchguard.audit import entries
from benchguard.audit.entries import Entry
from benchguard.audit.log import FORMAT, LogWriter
from benchguard.ipc.json_text import json_line

PROCESS = 100
IMAGE = "ab" * 32


def session(*command: str) -> entries.SessionEntry:
    started, driver = "2026-01-01T00:00:00+00:00", {"path": "/lib/libcuda.so.1"}
    return entries.SessionEntry(FORMAT, "0.1.0", started, list(command) or ["program"], driver, {}, 5, "cuda")


def launch(time_ns: int, name: str = "saxpy", **fields: Any) -> entries.LaunchEntry:
    values: dict[str, Any] = {
        "time_ns": time_ns, "duration_ns": 1000, "process": PROCESS, "thread": PROCESS, "call": "cuLaunchKernel",
        "stream": 7, "kernel": 1, "name": name, "demangled": None, "image": IMAGE, "grid": (8, 1, 1),
        "block": (128, 1, 1), "shared_bytes": 0, "cooperative": False, "captured": False,
        "attributes": entries.LaunchAttributes(None, []), "parameters": ["00" * 8], "parameter_bytes": 8, "result": 0,
    }  # fmt: skip
    return entries.LaunchEntry(**{**values, **fields})


def launch_time(time_ns: int, name: str = "saxpy", **fields: Any) -> entries.LaunchTimeEntry:
    values: dict[str, Any] = {
        "time_ns": time_ns, "process": PROCESS, "thread": PROCESS, "number": 1, "stream": 7, "kernel": 1, "graph": None,
        "name": name, "demangled": None, "image": IMAGE, "gpu_ns": 2500, "early": False,
    }  # fmt: skip
    return entries.LaunchTimeEntry(**{**values, **fields})


def call(
    time_ns: int, name: str, arguments: dict[str, int] | None = None, result: int = 0, process: int = PROCESS
) -> entries.CallEntry:
    return entries.CallEntry(time_ns, 500, process, process, name, "memory", arguments or {}, result)


def kernel(name: str = "saxpy", **fields: Any) -> entries.KernelEntry:
    values: dict[str, Any] = {
        "time_ns": 1, "process": PROCESS, "thread": PROCESS, "kernel": 1, "name": name, "demangled": None,
        "image": IMAGE, "registers": 12, "static_shared_bytes": 64, "local_bytes": 0, "constant_bytes": 0,
        "max_threads": 1024, "binary_version": 90, "layout_source": "driver", "layout": [(0, 8)],
    }  # fmt: skip
    return entries.KernelEntry(**{**values, **fields})


def image(origin: str = "/lib/libk.so", note: str | None = None, sha256: str = IMAGE) -> entries.ImageEntry:
    return entries.ImageEntry(1, PROCESS, PROCESS, 1, sha256, 900, "fatbin", origin, "cuModuleLoadData", note)


def end(time_ns: int = 10**9, **fields: Any) -> entries.EndEntry:
    values: dict[str, Any] = {
        "time_ns": time_ns, "status": 0, "launches": 0, "graph_launches": 0, "calls": 0, "images": 0, "kernels": 0,
        "processes": 1, "unmapped": 0, "dropped": 0, "images_dropped": 0, "rings_exhausted": 0, "corrupt_rings": 0,
        "outlived": [], "unobserved": [], "complete": True,
    }  # fmt: skip
    return entries.EndEntry(**{**values, **fields})


def write_log(path: Path, lines: Iterable[Entry]) -> Path:
    """Write a log of exactly these lines."""
    writer = LogWriter(path, replace=True)
    for line in lines:
        writer.write(json_line(line))
    writer.close()
    assert writer.error is None
    return path
