"""Explain from the audit log why no region was captured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..audit.kernel_name import display_name
from ..audit.log import checked_lines
from ..audit.selection import ByKernel, ByLaunches, ByProgram, ByWindow, Selection

_NAMES_SHOWN = 3


class _Counts:
    """Launches per process, as the shim counts them: without launches that a stream capture took."""

    def __init__(self, path: Path, selection: Selection) -> None:
        launches: Counter[int] = Counter()
        matches: Counter[int] = Counter()
        self.names: Counter[str] = Counter()
        self.processes = 0
        for line, _ in checked_lines(path):
            kind = line["kind"]
            self.processes += kind == "process"
            if kind == "graph_launch" or (kind == "launch" and not line["captured"]):
                launches[line["process"]] += 1
            if kind == "launch" and not line["captured"]:
                name, demangled = line["name"] or "", line["demangled"]
                self.names[display_name(demangled or name)] += 1
                matches[line["process"]] += isinstance(selection, ByKernel) and selection.matches(
                    name, demangled
                )
        self.launches = max(launches.values(), default=0)
        self.matches = max(matches.values(), default=0)


def why_missed(log: Path, selection: Selection) -> str:
    """A clause: why the program never reached the selected region."""
    counts = _Counts(log, selection)
    if counts.processes == 0:
        return "the program made no driver call"
    within = "" if counts.processes == 1 else " in one process"
    if isinstance(selection, ByProgram):
        return "the program never called benchguard.region(); choose a region with --launches, --kernel or --window"
    if isinstance(selection, ByLaunches):
        return _launches_missed(counts, selection, within)
    if isinstance(selection, ByKernel):
        return _kernel_missed(counts, selection, within)
    return f"no stream saw {selection.nth} pairs of timing events with work between the two"


def why_unended(log: Path, selection: Selection) -> str:
    """A clause: why a region that began has no end."""
    counts = _Counts(log, selection)
    if isinstance(selection, ByLaunches) and counts.launches < selection.end:
        return _launches_missed(counts, selection, "")
    if isinstance(selection, ByWindow):
        return "no second timing event with work before it followed, or the program was killed"
    return "the program was killed inside the region, or the disk was full"


def _launches_missed(counts: _Counts, selection: ByLaunches, within: str) -> str:
    request = f"--launches {selection.first}:{selection.end} asks for more"
    made = "1 launch was" if counts.launches == 1 else f"{counts.launches} launches were"
    return f"only {made} made{within}, {request}"


def _kernel_missed(counts: _Counts, selection: ByKernel, within: str) -> str:
    if counts.matches:
        request = f"--kernel {selection.pattern}:{selection.nth} asks for more"
        return f"kernels of that name were launched {counts.matches} times{within}, {request}"
    if not counts.names:
        return "no kernel was launched, other than from graphs"
    common = ", ".join(name or "(unknown)" for name, _ in counts.names.most_common(_NAMES_SHOWN))
    more = len(counts.names) - _NAMES_SHOWN
    return f"no kernel matches {selection.pattern}; launched were {common}" + (
        f" and {more} more" if more > 0 else ""
    )
