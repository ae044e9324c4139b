"""The violations of a kernel, from the maps of its launches. Their bytes are hostile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchguard.probe.allocations import Allocation, Table, read_table
from benchguard.probe.bounds.check import KEPT, map_bytes
from benchguard.probe.bounds.report import Violation, counts, violations
from benchguard.probe.bounds.rewrite import Site
from benchguard.probe.engines.bounds.build import instrument
from benchguard.probe.ptx import Rewrite, parse


@dataclass(frozen=True)
class Finding:
    """An access that failed its check. `nearest`: to an access to global memory that is outside of every allocation.

    `doubt`: why the access may still be right; empty if it is wrong.
    """

    site: Site
    violation: Violation
    nearest: Allocation | None = None
    doubt: str = ""


@dataclass(frozen=True)
class Findings:
    """The findings of one launch. `more` counts violations of the same sites that the map does not hold whole."""

    found: tuple[Finding, ...]
    more: int
    wrong: int
    """Violations without doubt. Those that the map does not hold whole count as the first one of their place."""


class Reader:
    """Reads the traces of one kernel.

    Attributes:
        sites: The accesses that are checked.
        unchecked: Instructions and functions that are not, with the reason.
        unlisted: Why the kernel may have memory that no table lists; empty if it has none.
    """

    def __init__(self, ptx: str, kernel: str) -> None:
        """Begin with the text that the engine was given.

        Raises:
            PtxError: The text is not PTX, or lacks the kernel.
        """
        checks = instrument(Rewrite(parse(ptx), kernel))
        self.sites, self.unchecked, self.unlisted = checks.sites, checks.unchecked, checks.unlisted

    def read(self, violated: bytes, allocations: bytes) -> Findings:
        """The findings of a launch, from its two maps.

        Raises:
            UsageError: The table of allocations is malformed.
            ValueError: The map is of another kernel.
        """
        if len(violated) != map_bytes(len(self.sites)):
            raise ValueError(f"the trace has {len(violated)} bytes, not {map_bytes(len(self.sites))}")
        table = read_table(allocations)
        found = tuple(self._finding(each, table) for each in violations(violated))
        number = counts(violated)
        first = {each.violation.site: each for each in reversed(found)}
        more = {site: count - min(count, KEPT) for site, count in number.items()}
        wrong = sum(not each.doubt for each in found)
        wrong += sum(more[site] for site, each in first.items() if not each.doubt)
        return Findings(found, sum(more.values()), wrong)

    def _finding(self, violation: Violation, table: Table) -> Finding:
        site = self.sites[violation.site]
        if violation.is_misaligned or site.space == "shared":
            return Finding(site, violation)
        nearest = table.nearest(violation.address, violation.bytes)
        doubt = self.unlisted or table.doubt(violation.address, violation.bytes)
        return Finding(site, violation, nearest, doubt)


def lines(findings: Findings) -> Iterator[str]:
    """A launch's findings as text."""
    for each in findings.found:
        yield line(each)
    if findings.more:
        yield f"{findings.more:,} more violations at these places"


def line(finding: Finding) -> str:
    """A finding as text."""
    site, found = finding.site, finding.violation
    source = f" ({site.file}:{site.source_line})" if site.file else ""
    where = f"{site.function}, PTX line {site.line}{source}"
    who = f"thread {found.thread}, block {found.block}"
    text = f"{where}: {site.kind} of {found.bytes} bytes at {found.address:#x}, {_fault(finding)}; {who}"
    return f"could not tell: {text}: {finding.doubt}" if finding.doubt else text


def _fault(finding: Finding) -> str:
    site, found, nearest = finding.site, finding.violation, finding.nearest
    if found.is_misaligned:
        return "misaligned"
    if site.space == "shared":
        return f"behind the {found.size} bytes of shared memory"
    if nearest is None:
        return "outside of every allocation"
    what = f"allocation {nearest.number}, {nearest.bytes} bytes at {nearest.address:#x}"
    if found.address >= nearest.end:
        return f"{found.address - nearest.end} bytes behind {what}"
    if found.address + found.bytes <= nearest.address:
        return f"{nearest.address - found.address - found.bytes} bytes before {what}"
    return f"across the border of {what}"
