"""Write a log as a trace that ui.perfetto.dev opens: Chrome's trace-event format, in JSON, one event a line.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU describes the format. Times are in
microseconds. Processes and threads have the log's numbers. A stream has a track for each thread that launches on it,
with a number from STREAMS on. A log has only the times of the launch calls, so a launch appears twice, on its thread
and on its stream, and a flow connects the two.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ..audit.entries import (
    CallEntry,
    GraphLaunchEntry,
    LaunchEntry,
    LaunchTimeEntry,
    Line,
    PhaseEntry,
    ProcessEntry,
    SessionEntry,
)
from ..audit.kernel_name import display_name
from ..audit.memory import ProcessMemory
from ..audit.names import describe_stream, error_name
from ..audit.tally import Tally
from ..audit.typed_log import LogEntries
from ..errors import BenchguardError
from ..ipc.json_text import json_line

AnyCall = CallEntry | LaunchEntry | GraphLaunchEntry
STREAMS = 1 << 31
"""The first number of a stream's track: larger than any thread's (Linux has at most 2**22)."""

TRACKS_MAX = 10_000
COMPRESSION = 3
TIME_MAX = 1 << 53

HOST_TIMES = (
    "All times are the host's: begin and end of driver calls. The log has no times of the GPU, so a kernel's slice "
    "on a stream is its launch call."
)
GPU_TIMES = (
    "All slices are the host's: begin and end of driver calls. The log has how long launches took on the GPU, but not "
    "when they began there, so a kernel's slice on a stream is its launch call, and its GPU time is a mark with the "
    "launch's number."
)


class Trace:
    """Turns lines into events.

    Attributes:
        misplaced: number of lines whose time is impossible, which have no event.
        moved: number of calls that begin later here than in the log, because they overlapped the call before. Seen
            in one log, and the cause is not known. Perfetto leaves such a slice out.
    """

    def __init__(self) -> None:
        self.misplaced = self.moved = 0
        self._latest: dict[tuple[int, int], tuple[int, int]] = {}
        self.events = 0
        self.is_timed = False
        self._api = "cuda"
        self._tracks: dict[tuple[int, int, int], int] = {}
        self._threads: set[tuple[int, int]] = set()
        self._processes: dict[int, str] = {}
        self._memory: list[dict[str, Any]] = []
        self._last: dict[int, dict[str, int]] = {}
        self._flow = 0

    @property
    def times(self) -> str:
        """The clock of the times in the trace, in words."""
        return GPU_TIMES if self.is_timed else HOST_TIMES

    def watch(self, call: CallEntry, memory: ProcessMemory) -> None:
        """Take the memory of a process after a call."""
        sizes = memory.live_bytes()
        if sizes != self._last.get(memory.process, {}):
            self._last[memory.process] = sizes
            if 0 <= call.time_ns < TIME_MAX:
                self._memory.append(
                    {
                        "ph": "C",
                        "name": "allocated bytes",
                        "pid": memory.process,
                        "ts": call.time_ns / 1e3,
                        "args": sizes,
                    }
                )

    def counters(self) -> list[dict[str, Any]]:
        """The counters since the last call."""
        counters, self._memory = self._memory, []
        return counters

    def events_of(self, line: Line) -> Iterator[dict[str, Any]]:
        """The events of a line, and the counters that came meanwhile."""
        yield from self.counters()
        if isinstance(line, AnyCall):
            line = self._without_overlap(line)
        match line:
            case LaunchEntry():
                yield from self._launch(
                    line, display_name(line.demangled or line.name or "(unknown)"), _arguments(line)
                )
            case GraphLaunchEntry():
                yield from self._launch(line, f"graph {line.graph}", {"kernels": line.kernels})
            case LaunchTimeEntry():
                yield from self._launch_time(line)
            case CallEntry():
                yield from self._slice(line, line.call, line.thread, line.group or "call", _words(line))
            case PhaseEntry():
                if 0 <= line.time_ns < TIME_MAX:
                    yield {
                        "ph": "i", "s": "p", "cat": "phase", "name": f"phase {line.phase} {line.label}".strip(),
                        "pid": line.process, "tid": line.thread, "ts": line.time_ns / 1e3,
                    }  # fmt: skip
            case ProcessEntry():
                yield _named("process_name", line.process, 0, Path(line.executable).name or "process")
            case SessionEntry():
                self._api = line.api

    def _without_overlap(self, line: AnyCall) -> AnyCall:
        """The call, its begin at the end of the thread's call before if the log says that it began within that call.

        A call within another one ends before it, and stays as it is.
        """
        begin, end = line.time_ns, line.time_ns + line.duration_ns
        latest_begin, latest_end = self._latest.get((line.process, line.thread), (0, 0))
        if latest_begin < begin < latest_end < end:
            self.moved += 1
            begin = latest_end
            line = msgspec.structs.replace(line, time_ns=begin, duration_ns=end - begin)
        if end >= latest_end and end < TIME_MAX:
            if len(self._latest) >= TRACKS_MAX:
                self._latest.clear()
            self._latest[line.process, line.thread] = begin, end
        return line

    def _launch(
        self, line: LaunchEntry | GraphLaunchEntry, name: str, arguments: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        key = line.process, line.thread, line.stream  # slices of two threads could overlap
        if key not in self._tracks and len(self._tracks) < TRACKS_MAX:
            self._tracks[key] = STREAMS + len(self._tracks)
            label = describe_stream(line.stream)
            yield _named(
                "thread_name", line.process, self._tracks[key], f"stream {label} from thread {line.thread}"
            )
        arguments = {**arguments, "call": line.call}
        if line.number is not msgspec.UNSET:
            arguments["number"] = line.number
        before = self.misplaced
        yield from self._slice(line, name, line.thread, "launch", arguments)
        if key not in self._tracks or self.misplaced > before:
            return
        track = self._tracks[key]
        yield from self._slice(line, name, track, "kernel", {"thread": line.thread})
        self._flow += 1
        common = {
            "cat": "launch",
            "name": "launch",
            "id": self._flow,
            "pid": line.process,
            "ts": line.time_ns / 1e3,
        }
        yield {"ph": "s", "tid": line.thread, **common}
        yield {"ph": "f", "bp": "e", "tid": track, **common}

    def _launch_time(self, line: LaunchTimeEntry) -> Iterator[dict[str, Any]]:
        """A mark where the time was read: the log has no place in time of the GPU's work."""
        if not 0 <= line.time_ns < TIME_MAX:
            self.misplaced += 1
            return
        self.is_timed = True
        name = display_name(line.demangled or line.name or f"graph {line.graph}")
        self.events += 1
        yield {
            "ph": "i", "s": "t", "cat": "gpu time", "name": f"GPU time of {name}", "pid": line.process,
            "tid": self._tracks.get((line.process, line.thread, line.stream), line.thread),
            "ts": line.time_ns / 1e3,
            "args": {"microseconds between its events": line.gpu_ns / 1e3, "number": line.number, "early": line.early},
        }  # fmt: skip

    def _slice(
        self,
        line: CallEntry | LaunchEntry | GraphLaunchEntry,
        name: str,
        track: int,
        category: str,
        arguments: dict[str, Any],
    ) -> Iterator[dict[str, Any]]:
        if not (0 <= line.time_ns < TIME_MAX and 0 <= line.duration_ns < TIME_MAX):
            self.misplaced += 1
            return
        if (
            track == line.thread
            and (line.process, track) not in self._threads
            and len(self._threads) < TRACKS_MAX
        ):
            self._threads.add((line.process, track))
            yield _named("thread_name", line.process, track, f"thread {track}")
        if line.result:
            arguments = {**arguments, "result": error_name(self._api, line.result)}
        self.events += 1
        yield {
            "ph": "X", "cat": category, "name": name, "pid": line.process, "tid": track, "ts": line.time_ns / 1e3,
            "dur": line.duration_ns / 1e3, "args": arguments,
        }  # fmt: skip


def write_trace(
    log: Path, path: Path, lines: Iterable[tuple[dict[str, Any], str]] | None = None
) -> tuple[Trace, str]:
    """Write a log as a trace, compressed if the name ends in .gz. `lines`: those of checked_lines, if they are watched.

    Returns the trace's counts, and why the log was read in part (else empty).

    Raises LogError if the file is not an audit log, and BenchguardError if the trace cannot be written.
    """
    trace, source = Trace(), LogEntries(log, lines)
    tally = Tally(trace.watch)
    entries = iter(source)
    first = next(entries, None)  # before the trace is opened: a file that is not a log replaces nothing
    try:
        with path.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", COMPRESSION, raw, mtime=0) as packed:
                    _write(packed, trace, tally, source, first, entries)
            else:
                _write(raw, trace, tally, source, first, entries)
    except OSError as error:
        raise BenchguardError(
            f"cannot write the trace {path}: {error.strerror}; free some space or name another file"
        ) from error
    return trace, source.problem


class _File(Protocol):
    def write(self, data: bytes, /) -> int: ...


def _write(
    file: _File,
    trace: Trace,
    tally: Tally,
    source: LogEntries,
    first: Line | None,
    rest: Iterator[Line | None],
) -> None:
    file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    separator = b""
    for event in _events(trace, tally, itertools.chain((first,), rest)):
        file.write(separator + json_line(event))
        separator = b",\n"
    other = {
        "times": trace.times,
        "log": str(source.path),
        "head": source.head,
        "problem": source.problem,
        "moved calls": trace.moved,
    }
    file.write(b'\n],"otherData":%b}\n' % json_line(other))


def _events(trace: Trace, tally: Tally, lines: Iterable[Line | None]) -> Iterator[dict[str, Any]]:
    for line in lines:
        tally.add_entry(line)
        if line is not None:
            yield from trace.events_of(line)
    tally.finish()
    yield from trace.counters()


def _arguments(line: LaunchEntry) -> dict[str, Any]:
    return {
        "grid": "x".join(map(str, line.grid)), "block": "x".join(map(str, line.block)),
        "shared bytes": line.shared_bytes, "image": line.image, "captured into a graph": line.captured,
    }  # fmt: skip


def _words(line: CallEntry) -> dict[str, Any]:
    words: dict[str, Any] = {
        name: hex(value) if value >= 1 << 32 else value for name, value in line.arguments.items()
    }
    floats = {} if line.floats is msgspec.UNSET else line.floats
    return {**words, **floats, **({"equal calls": line.count} if line.count > 1 else {})}


def _named(kind: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}
