"""Events as the rows of a live table."""

from __future__ import annotations

import datetime
import fnmatch
import textwrap
from dataclasses import dataclass
from pathlib import PurePath

from ..audit.entries import SessionEntry
from ..audit.events import Event, kernel_of, stream_of
from ..audit.kernel_name import display_name
from ..audit.names import plain_name
from ..audit.runtime_calls import RUNTIME_CALLS
from ..ipc.text import joined
from .output import RowWriter

WRAP_MIN = 24
"""Columns that the details need at least to be wrapped in their place. With fewer they follow below the row."""
INDENT = " " * 4
RARE = frozenset({"LOAD", "KERNEL", "GRAPH", "MISSING"})
"""Types of events that only a verbose trace shows."""
COLOURS = {
    "DENY": "red",
    "LOST": "red",
    "PENDING": "yellow",
    "WAIT": "yellow",
    "NOTE": "yellow",
    "PHASE": "cyan",
}


@dataclass(frozen=True)
class Filters:
    """The calls to show. Empty fields let everything pass. Other events pass unless a filter of calls is set."""

    calls: tuple[str, ...] = ()
    """Patterns as in a shell, of the driver call's or the runtime call's name."""
    kernels: tuple[str, ...] = ()
    streams: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    process: int | None = None
    executable: str | None = None
    errors: bool = False

    def accept(self, event: Event, api: str) -> bool:
        """Whether to show an event."""
        if event.type == "END":
            return True
        if self.process is not None and event.process != self.process:
            return False
        if self.executable is not None and event.executable != self.executable:
            return False
        if self.threads and event.thread not in self.threads:
            return False
        return (event.failed or not self.errors) and self._accept_call(event, api)

    def _accept_call(self, event: Event, api: str) -> bool:
        call = event.call
        if event.type == "WAIT" and not (self.kernels or self.streams):
            return not self.calls or any(_matches(name, self.calls) for name in _names(event.name, api))
        if call is None:
            return not (self.calls or self.kernels or self.streams) or event.failed
        if self.streams and stream_of(api, call) not in self.streams:
            return False
        name = kernel_of(call)
        if self.kernels and (
            name is None or not any(_matches(each, self.kernels) for each in (name, display_name(name)))
        ):
            return False
        return not self.calls or any(_matches(name, self.calls) for name in _names(call.call, api))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _names(call: str, api: str) -> list[str]:
    """The names by which a filter can choose a driver call."""
    return [each for each in (call, plain_name(call), runtime_name(call, api)) if each]


def runtime_name(call: str, api: str) -> str:
    """The CUDA runtime's call that makes a driver call; empty if no runtime call is known, and for HIP."""
    return RUNTIME_CALLS.get(plain_name(call), "") if api == "cuda" else ""


@dataclass(frozen=True)
class Layout:
    """Which columns and rows a trace has."""

    times: bool = True
    returns: bool = True
    verbose: bool = False
    runtime: bool = False


class TraceTable:
    """Writes events as rows."""

    def __init__(self, output: RowWriter, layout: Layout, filters: Filters) -> None:
        self._output = output
        self._layout = layout
        self._filters = filters
        self._api = "cuda"
        self._began = 0.0
        self._has_heading = False
        self._calls = 0
        self._calls_shown = 0

    @property
    def hides_all_calls(self) -> bool:
        """Whether there were calls, and no filter let one through."""
        return self._calls > 0 and self._calls_shown == 0

    def begin(self, session: SessionEntry) -> None:
        """Write the heading. Times are those of this machine's time zone."""
        if self._has_heading:
            return
        self._has_heading = True
        self._api = session.api
        try:
            self._began = datetime.datetime.fromisoformat(session.started).timestamp()
        except ValueError:
            self._began = 0.0  # the times count from 1970
        cells = self._cells("TIME", "PROCESS", "PID", "THREAD", "LINE", "EVENT", "TYPE")
        self._output.put(f"{cells}DETAILS")

    def add(self, event: Event) -> None:
        """Write the row of an event, if it is to be shown."""
        layout = self._layout
        self._calls += event.call is not None
        if (event.type == "EXIT" and not layout.returns) or (event.type in RARE and not layout.verbose):
            return
        if not self._filters.accept(event, self._api):
            return
        self._calls_shown += event.call is not None
        name = event.name
        runtime = runtime_name(name, self._api) if layout.runtime and event.call is not None else ""
        cells = self._cells(
            self._time(event.time_ns) if layout.times else "",
            PurePath(event.executable).name or "-",
            str(event.process),
            str(event.thread),
            str(event.line),
            f"{name} ({runtime})" if runtime else name,
            f"[{event.type}]",
        )
        colour = "red" if event.failed and event.type == "EXIT" else COLOURS.get(event.type)
        for line in self._wrapped(joined(cells), joined(event.details)):
            self._output.put(line, colour)

    def flush(self) -> None:
        self._output.flush()

    def _time(self, time_ns: int) -> str:
        try:
            return datetime.datetime.fromtimestamp(self._began + time_ns / 1e9).strftime("%H:%M:%S.%f")
        except (OverflowError, ValueError, OSError):
            return "-"

    def _cells(self, time: str, process: str, pid: str, thread: str, line: str, name: str, kind: str) -> str:
        layout = self._layout
        times = f"{time:<15} " if layout.times else ""
        more = f"{thread:<7} {line:>8} " if layout.verbose else ""
        width = 40 if layout.runtime else 26
        return f"{times}{process:<16} {pid:<7} {more}{name:<{width}} {kind:<9} "

    def _wrapped(self, cells: str, details: str) -> list[str]:
        width = self._output.width
        if width is None or len(cells) + len(details) <= width:
            return [cells + details]
        if width - len(cells) < WRAP_MIN:
            below = textwrap.wrap(details, max(width, WRAP_MIN) - len(INDENT), break_on_hyphens=False)
            return [cells.rstrip(), *(INDENT + line for line in below)]
        lines = textwrap.wrap(details, width - len(cells), break_on_hyphens=False) or [""]
        return [cells + lines[0], *(" " * len(cells) + line for line in lines[1:])]
