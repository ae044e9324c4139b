"""Lines of an audit log, made by hand: every field that a reader needs, with the values that a test names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchguard.audit.log import FORMAT, LogWriter
from benchguard.audit.summary import Summary, summarise_lines
from benchguard.ipc.json_text import json_line

HEAD = "ab" * 32
Line = dict[str, Any]


def session(**more: Any) -> Line:
    return {
        "kind": "session",
        "format": FORMAT,
        "version": "0",
        "started": "2026-11-23T10:00:00.000000+00:00",
        "command": ["python", "a.py"],
        "driver": {"path": "/usr/lib/libcuda.so.1"},
        "shim": {},
        "session_ns": 0,
        "api": "cuda",
        **more,
    }


def _common(at: int, /, **more: Any) -> Line:
    return {"time_ns": at, "process": 1, "thread": 1, **more}


def process(time_ns: int = 0, executable: str = "/bin/a.out", **more: Any) -> Line:
    line = {"kind": "process", "parent": 0, "executable": executable, "driver": "/usr/lib/libcuda.so.1"}
    return {**line, **_common(time_ns, **more)}


def image(sha256: str | None, origin: str, **more: Any) -> Line:
    line = {
        "kind": "image",
        "image": 1,
        "sha256": sha256,
        "bytes": 841600,
        "format": "fatbin",
        "origin": origin,
    }
    return {**line, "call": "cuModuleLoadData", "note": None, **_common(0, **more)}


def call(function: str, time_ns: int = 0, result: int = 0, *, duration_ns: int = 1, **arguments: int) -> Line:
    """A call of thread 1 of process 1; `process_` and `thread_` among the arguments name others."""
    owner = {"process": arguments.pop("process_", 1), "thread": arguments.pop("thread_", 1)}
    line = {
        "kind": "call",
        "duration_ns": duration_ns,
        "call": function,
        "group": "memory",
        "arguments": arguments,
    }
    return {**line, "result": result, **_common(time_ns, **owner)}


def launch(name: str, demangled: str | None, image: str | None, **more: Any) -> Line:
    line = {
        "kind": "launch",
        "duration_ns": 5000,
        "call": "cuLaunchKernel",
        "stream": 0,
        "kernel": 1,
        "name": name,
        "demangled": demangled,
        "image": image,
        "grid": [4, 1, 1],
        "block": [256, 1, 1],
        "shared_bytes": 0,
        "cooperative": False,
        "captured": False,
        "attributes": {"cluster": None, "others": []},
        "parameters": [],
        "parameter_bytes": 0,
        "result": 0,
    }
    return {**line, **_common(0), **more}


def graph(number: int, kernels: list[Line], **more: Any) -> Line:
    line = {
        "kind": "graph",
        "graph": number,
        "nodes": len(kernels),
        "opaque": 0,
        "kernels": kernels,
        "first": 0,
    }
    return {**line, **_common(0), **more}


def node(name: str, image: str | None, grid: list[int], block: list[int]) -> Line:
    line = {"name": name, "demangled": None, "image": image, "grid": grid, "block": block, "shared_bytes": 0}
    return {**line, "parameters": [], "parameter_bytes": 0}


def graph_launch(number: int, **more: Any) -> Line:
    line = {
        "kind": "graph_launch",
        "duration_ns": 7000,
        "call": "cuGraphLaunch",
        "graph": number,
        "stream": 0,
    }
    return {**line, "kernels": None, "result": 0, **_common(0), **more}


def end(**more: Any) -> Line:
    counts = ("launches", "graph_launches", "calls", "images", "kernels", "processes", "unmapped", "dropped")
    zero = dict.fromkeys((*counts, "images_dropped", "rings_exhausted", "corrupt_rings"), 0)
    line = {
        "kind": "end",
        "time_ns": 0,
        "status": 0,
        **zero,
        "outlived": [],
        "unobserved": [],
        "complete": True,
    }
    return {**line, **more}


def summary_of(*lines: Line, complete: bool = True, **session_fields: Any) -> Summary:
    """The summary of a log with these lines between its first and its last."""
    whole = [session(**session_fields), *lines, end(complete=complete)]
    return summarise_lines((line, HEAD) for line in whole)


def write_log(path: Path, lines: Iterable[Line]) -> Path:
    """A log file with a valid chain."""
    log = LogWriter(path)
    for line in lines:
        log.write(json_line(line))
    log.close()
    return path
