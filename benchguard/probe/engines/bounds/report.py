"""The violations of a kernel, from the maps of its launches. Their bytes are hostile."""

from __future__ import annotations

from collections.abc import Iterable

from benchguard.probe.bounds.check import map_bytes
from benchguard.probe.bounds.report import Violation, counts, violations
from benchguard.probe.bounds.rewrite import Site
from benchguard.probe.engines.bounds.build import instrument
from benchguard.probe.ptx import Rewrite, parse


def report(ptx: str, kernel: str, traces: Iterable[bytes]) -> str:
    """The violations of all launches, a line each, and instructions that are not checked.

    Args:
        ptx: The text that the engine was given.
        kernel: Its kernel.
        traces: The map of violations of each launch.

    Raises:
        PtxError: The text is not PTX, or lacks the kernel.
        ValueError: A trace is of another kernel.
    """
    checks = instrument(Rewrite(parse(ptx), kernel))
    lines = []
    for launch, trace in enumerate(traces):
        if len(trace) != map_bytes(len(checks.sites)):
            raise ValueError(f"the trace has {len(trace)} bytes, not {map_bytes(len(checks.sites))}")
        lines += [f"launch {launch}: {line(checks.sites[each.site], each)}" for each in violations(trace)]
        more = sum(counts(trace).values()) - len([*violations(trace)])
        lines += [f"launch {launch}: {more} more violations at these places"] if more else []
    lines += [f"not checked: {name}: {reason}" for name, reason in checks.unchecked.items()]
    return "\n".join(lines or [f"{kernel}: no violation at {len(checks.sites)} places"])


def line(site: Site, found: Violation) -> str:
    """A violation as text."""
    source = f" ({site.file}:{site.source_line})" if site.file else ""
    where = f"{site.function}, PTX line {site.line}{source}"
    what = "misaligned" if found.is_misaligned else "outside of every allocation"
    if site.space == "shared" and not found.is_misaligned:
        what = f"behind the {found.size} bytes of shared memory"
    elif found.size and not found.is_misaligned:
        what += f", nearest: {found.size} bytes at {found.base:#x}, {distance(found)} bytes away"
    who = f"thread {found.thread}, block {found.block}"
    return f"{where}: {site.kind} of {found.bytes} bytes at {found.address:#x}, {what}; {who}"


def distance(found: Violation) -> int:
    """Bytes between an access and the nearest allocation; 0 if they meet."""
    end = found.base + found.size
    return max(0, found.address - end if found.address >= end else found.base - found.address - found.bytes)
