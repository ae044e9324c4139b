"""Reports on the traces of the built-in engines, as text and pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import BenchguardError, UsageError
from ..probe.trace_file import Trace, TraceLine, read_traces

LAUNCHES_SHOWN = 20
"""Launches that get a line and a page of their own."""

CLASSES_SHOWN = 12
LINES_SHOWN = 40
UNCHECKED_SHOWN = 10


def report_of(engine: str) -> Callable[[Path], Iterator[str]] | None:
    """The report of a built-in engine, which reads the folder of a run; None for other engines."""
    return {"block-times": _block_times, "count": _count, "memory": _memory, "bounds": _bounds}.get(engine)


def _block_times(folder: Path) -> Iterator[str]:
    from ..probe.engines.block_times.read import read_schedule

    for number, (line, trace) in enumerate(read_traces(folder)):
        if number == LAUNCHES_SHOWN:
            yield f"further launches are not shown: {folder} has them all"
            return
        schedule = read_schedule(_only_map(line, trace))
        taken = (schedule.end - schedule.begin) / 1000
        yield (
            f"{line.kernel}: {len(schedule.blocks)} blocks on {len(schedule.sms)} SMs in {taken:.2f} us, "
            f"tail {schedule.tail / 1000:.2f} us, idle {schedule.idle_share:.0%}{_page(folder, line, schedule)}"
        )


def _page(folder: Path, line: TraceLine, schedule: object) -> str:
    """Write the launch's page; where that needs a package that is missing, say so."""
    from ..probe.engines.block_times.read import Schedule

    assert isinstance(schedule, Schedule)
    path = folder / f"blocks-{Path(line.file).stem}.html"
    try:
        from ..report.block_times_page import block_times_page

        path.write_text(block_times_page(line.kernel, schedule))
    except UsageError as error:
        return f"; no page: {error}"
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}") from error
    return f": {path}"


def _count(folder: Path) -> Iterator[str]:
    from ..probe.engines.count.read import read_counts

    totals: dict[str, Counter[str]] = {}
    launches: Counter[str] = Counter()
    for line, trace in read_traces(folder):
        counts = read_counts(_only_map(line, trace))
        launches[line.kernel] += 1
        totals.setdefault(line.kernel, Counter()).update(counts.classes)
    for kernel, total in totals.items():
        executed = sum(total.values())
        yield f"{kernel}: {launches[kernel]} launches, {executed:,} instructions"
        for name, number in total.most_common(CLASSES_SHOWN):
            if number:
                yield f"  {name}: {number:,} ({number / executed:.1%})"


def _memory(folder: Path) -> Iterator[str]:
    from ..probe.engines.memory.report import report

    maps: dict[tuple[str, str], list[bytes]] = {}
    for line, trace in read_traces(folder):
        maps.setdefault((line.folder, line.kernel), []).append(_only_map(line, trace))
    for (place, kernel), found in maps.items():
        yield f"{kernel}: {len(found)} launches"
        try:
            text = (folder / place / "original.ptx").read_text("utf-8", "surrogateescape")
            yield from report(text, kernel, found).splitlines()
        except (OSError, ValueError) as error:
            yield f"  its traces cannot be read: {error}"


def _bounds(folder: Path) -> Iterator[str]:
    from ..probe.engines.bounds.report import Reader, lines

    readers: dict[tuple[str, str], Reader] = {}
    launches: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    doubtful: Counter[tuple[str, str]] = Counter()
    shown = 0
    for line, trace in read_traces(folder):
        key = line.folder, line.kernel
        try:
            if key not in readers:
                text = (folder / line.folder / "original.ptx").read_text("utf-8", "surrogateescape")
                readers[key] = Reader(text, line.kernel)
            if len(trace.maps) != 2:
                raise UsageError(f"{line.file} has {len(trace.maps)} maps; the engine makes two")
            findings = readers[key].read(*trace.maps)
        except (BenchguardError, OSError, ValueError) as error:
            yield f"{line.file} cannot be read: {error}"
            continue
        launches[key] += 1
        wrong[key] += findings.wrong
        doubtful[key] += len(findings.found) + findings.more - findings.wrong
        for text in lines(findings):
            shown += 1
            if shown <= LINES_SHOWN:
                yield f"{line.file}: {text}"
    if shown > LINES_SHOWN:
        yield f"{shown - LINES_SHOWN:,} further lines are not shown: {folder} has them all"
    for key, reader in readers.items():
        says = f"{wrong[key]:,} violations" if wrong[key] else "no violation"
        says += f", {doubtful[key]:,} accesses could not be told" if doubtful[key] else ""
        yield f"{key[1]}: {launches[key]} launches, {len(reader.sites)} places, {says}"
        for name, reason in list(reader.unchecked.items())[:UNCHECKED_SHOWN]:
            yield f"  not checked: {name}: {reason}"
        if len(reader.unchecked) > UNCHECKED_SHOWN:
            yield f"  not checked: {len(reader.unchecked) - UNCHECKED_SHOWN} more"


def _only_map(line: TraceLine, trace: Trace) -> bytes:
    if len(trace.maps) != 1:
        raise UsageError(f"{line.file} has {len(trace.maps)} maps; the engine makes one")
    return trace.maps[0]
