"""Tell a log as events: each call as its entry and its exit, in the order of time, with decoded arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..units import duration_text
from . import entries
from .copies import direction_of, is_copy
from .kernel_name import display_name
from .log import LogError
from .memory import ProcessMemory
from .memory_calls import ALLOCATIONS, RELEASES
from .names import SUCCESS, describe_arguments, describe_stream, error_name, is_failure, names_of, plain_name
from .order import InOrder

PROCESSES_MAX = 4096
WINDOW = 4096
"""Events that are held back to put the calls of several threads in order."""

AnyCall = entries.CallEntry | entries.LaunchEntry | entries.GraphLaunchEntry


@dataclass(frozen=True)
class Event:
    """One row of a trace. `time_ns` counts from the session's begin; `line` is the number in the log."""

    time_ns: int
    process: int
    thread: int
    executable: str
    name: str
    type: str
    """ENTER and EXIT of a call; START, LOAD, KERNEL, GRAPH, GPU, PHASE, LOG, DENY, NOTE, LOST, MISSING,
    WAIT, PENDING, END."""
    details: str
    line: int
    failed: bool = False
    call: AnyCall | None = None
    """The call that the event is of."""


class Teller:
    """Turns log lines into events. Holds events back until calls of other threads cannot precede them."""

    def __init__(self, log: Path | None = None) -> None:
        """`log`: the file that the lines are from, for messages."""
        self._log = log
        self.session: entries.SessionEntry | None = None
        self._api = "cuda"
        self._number = 0
        self._ordered: InOrder[tuple[AnyCall, int, bool] | Event] = InOrder(WINDOW)
        self._memory: dict[int, ProcessMemory] = {}
        self._executables: dict[int, str] = {}
        self._latest: dict[tuple[int, int], int] = {}

    def tell(self, line: dict[str, Any]) -> Iterator[Event]:
        """Take a line; give the events that are due. Raises LogError if neutrino-bench does not write such lines."""
        self._number += 1
        try:
            entry = entries.parse_entry(line)
        except msgspec.ValidationError as error:
            where = f"{self._log}, " if self._log is not None else ""
            raise LogError(
                f"{where}line {self._number}: not a line of an audit log: {error}; the line was altered"
            ) from error
        if isinstance(entry, AnyCall):
            yield from self._due(self._begin(entry))
        elif isinstance(entry, entries.SessionEntry):
            self.session, self._api = entry, entry.api
        elif isinstance(entry, entries.EndEntry):
            yield from self.rest()
            yield Event(entry.time_ns, 0, 0, "", "session", "END", _end_text(entry), self._number)
        elif entry is not None and not isinstance(entry, (entries.ContinuedEntry, entries.PartEntry)):
            if isinstance(entry, entries.ProcessEntry):
                self._executables[entry.process] = entry.executable
                self._memory.pop(entry.process, None)
                if len(self._executables) > PROCESSES_MAX:
                    del self._executables[next(iter(self._executables))]
            yield from self._due(self._ordered.push(entry.time_ns, self._plain(entry)))

    def rest(self) -> Iterator[Event]:
        """Give all events that are held back: no more lines come, or none has come for a while."""
        yield from self._due(self._ordered.rest())

    def _begin(self, entry: AnyCall) -> Iterator[tuple[AnyCall, int, bool] | Event]:
        thread = entry.process, entry.thread
        begin = max(entry.time_ns, self._latest.get(thread, 0))
        end = max(begin, entry.time_ns + entry.duration_ns)
        if len(self._latest) >= PROCESSES_MAX:
            self._latest.clear()
        self._latest[thread] = end
        yield from self._ordered.push(begin, (entry, self._number, False))
        yield from self._ordered.push(end, (entry, self._number, True))

    def _due(self, items: Iterable[tuple[AnyCall, int, bool] | Event]) -> Iterator[Event]:
        for item in items:
            if isinstance(item, Event):
                yield item
            else:
                entry, number, is_exit = item
                yield self._exit(entry, number) if is_exit else self._enter(entry, number)

    def _memory_of(self, process: int) -> ProcessMemory:
        if process not in self._memory and len(self._memory) >= PROCESSES_MAX:
            del self._memory[next(iter(self._memory))]
        return self._memory.setdefault(process, ProcessMemory(self._api, process))

    def _enter(self, entry: AnyCall, number: int) -> Event:
        if isinstance(entry, entries.LaunchEntry):
            details = _launch_text(entry)
        elif isinstance(entry, entries.GraphLaunchEntry):
            kernels = "" if entry.kernels is None else f", kernels={entry.kernels}"
            details = [f"graph={entry.graph}{kernels}", f"stream={describe_stream(entry.stream)}"]
        else:
            details = [*describe_arguments(self._api, entry.call, entry.arguments)[0], *self._related(entry)]
            if entry.result == SUCCESS and plain_name(entry.call) not in ALLOCATIONS:
                self._memory_of(entry.process).add(entry, number)
        if isinstance(entry, entries.CallEntry) and entry.count > 1:
            details.append(f"{entry.count} equal calls")
        return self._event(entry, number, "ENTER", ", ".join(details), entry.time_ns)

    def _related(self, entry: entries.CallEntry) -> list[str]:
        """Facts from earlier calls: the allocation that a call frees, the direction of a copy."""
        name = plain_name(entry.call)
        memory = self._memory_of(entry.process)
        if is_copy(name):
            return [f"direction={direction_of(name, entry.arguments, memory.ranges)}"]
        if name not in RELEASES or not entry.arguments:
            return []
        address = next(iter(entry.arguments.values()))
        if (block := memory.find(address)) is not None:
            return [f"allocated by {block.call} in line {block.line}, {block.bytes} bytes"]
        if (freed := memory.freed(address)) is not None and is_failure(entry.call, entry.result):
            return [
                f"double free: freed in line {freed[1]}, allocated by {freed[0].call} in line {freed[0].line}"
            ]
        return []

    def _exit(self, entry: AnyCall, number: int) -> Event:
        details = [f"returned={error_name(self._api, entry.result)}"]
        if isinstance(entry, entries.CallEntry):
            if entry.result == SUCCESS:
                details += describe_arguments(self._api, entry.call, entry.arguments)[1]
            if entry.result != SUCCESS or plain_name(entry.call) in ALLOCATIONS:
                self._memory_of(entry.process).add(entry, number)
        details.append(f"took {duration_text(entry.duration_ns)}")
        return self._event(entry, number, "EXIT", ", ".join(details), entry.time_ns + entry.duration_ns)

    def _event(self, entry: AnyCall, number: int, kind: str, details: str, time_ns: int) -> Event:
        executable = self._executables.get(entry.process, "")
        failed = is_failure(entry.call, entry.result)
        return Event(
            time_ns, entry.process, entry.thread, executable, entry.call, kind, details, number, failed, entry
        )

    def _plain(self, entry: Any) -> Event:
        name, kind, details = _PLAIN[type(entry)](self._api, entry)
        executable = self._executables.get(entry.process, "")
        failed = kind in ("DENY", "LOST", "PENDING")
        return Event(
            entry.time_ns, entry.process, entry.thread, executable, name, kind, details, self._number, failed
        )


def stream_of(api: str, call: AnyCall) -> int | None:
    """The handle of the stream that a call names."""
    if not isinstance(call, entries.CallEntry):
        return call.stream
    roles = names_of(api).calls.get(plain_name(call.call), {})
    return next(
        (call.arguments[name] for name, role in roles.items() if role == "stream" and name in call.arguments),
        None,
    )


def kernel_of(call: AnyCall) -> str | None:
    """The demangled name of the kernel that a call launches."""
    return (call.demangled or call.name or "") if isinstance(call, entries.LaunchEntry) else None


def _launch_text(entry: entries.LaunchEntry) -> list[str]:
    grid, block = ("x".join(map(str, each)) for each in (entry.grid, entry.block))
    name = display_name(entry.demangled or entry.name or "(unknown)")
    facts = [f"kernel={name}", f"grid={grid}", f"block={block}"]
    facts += [f"shared_bytes={entry.shared_bytes}"] if entry.shared_bytes else []
    facts += [f"stream={describe_stream(entry.stream)}"]
    facts += [] if entry.number is msgspec.UNSET else [f"launch={entry.number}"]
    return facts + (["cooperative"] if entry.cooperative else []) + (["captured"] if entry.captured else [])


def _end_text(entry: entries.EndEntry) -> str:
    lost = f"records dropped: {entry.dropped}"
    status = "status not known" if entry.status is None else f"status {entry.status}"
    return f"{status}; {lost}" + ("" if entry.complete else "; INCOMPLETE")


def _decision(api: str, entry: entries.DecisionEntry) -> tuple[str, str, str]:
    facts = [f"rule={entry.rule}", f"phase={entry.phase}", f"called by {entry.origin}"]
    facts += [f"kernel={entry.kernel}"] if entry.kernel is not None else []
    facts += describe_arguments(api, entry.call, entry.arguments)[0]
    if entry.action == "deny":
        facts.append(f"returned={error_name(api, entry.result)}")
    return entry.call, "DENY" if entry.action == "deny" else "LOG", ", ".join(facts)


def _kernel(_: str, entry: entries.KernelEntry) -> tuple[str, str, str]:
    facts = (
        f"registers={entry.registers}, static_shared_bytes={entry.static_shared_bytes}, image={entry.image}"
    )
    return display_name(entry.demangled or entry.name), "KERNEL", facts


_PLAIN: dict[type[Any], Any] = {
    entries.ProcessEntry: lambda _, e: (
        "process",
        "START",
        f"{e.executable}, parent={e.parent}, driver={e.driver}",
    ),
    entries.ImageEntry: lambda _, e: (
        "image",
        "LOAD",
        f"{e.format}, {e.bytes} bytes, sha256={e.sha256}, from {e.origin}"
        + (f" ({e.note})" if e.note else ""),
    ),
    entries.KernelEntry: _kernel,
    entries.GraphEntry: lambda _, e: (
        "graph",
        "GRAPH",
        f"graph={e.graph}, nodes={e.nodes}, kernels={len(e.kernels)}",
    ),
    entries.LaunchTimeEntry: lambda _, e: (
        display_name(e.demangled or e.name or (f"graph {e.graph}" if e.graph is not None else "(unknown)")),
        "GPU",
        f"{duration_text(e.gpu_ns)} between its events on stream={describe_stream(e.stream)}, launch {e.number}"
        + (", early" if e.early else ""),
    ),
    entries.PhaseEntry: lambda _, e: (e.phase, "PHASE", f"{e.label}, by {e.origin}".lstrip(", ")),
    entries.DecisionEntry: _decision,
    entries.NoteEntry: lambda _, e: ("note", "NOTE", e.text),
    entries.ProbeEntry: lambda _, e: (e.name, "PROBE", f"{e.outcome}{f': {e.reason}' if e.reason else ''}"),
    entries.UnmappedEntry: lambda _, e: (
        e.name,
        "MISSING",
        f"no such export; asked_version={e.asked_version}",
    ),
    entries.InFlightEntry: lambda _, e: (
        e.call,
        "PENDING",
        "inside the driver when its process or the session ended",
    ),
    entries.WaitingEntry: lambda _, e: (e.call, "WAIT", "inside the driver; its rows follow when it returns"),
    entries.LostEntry: lambda _, e: ("records", "LOST", e.corrupt or f"{e.records} records dropped"),
}
