"""The result of a grade as tables and lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rich.cells import chop_cells

from ..audit.demangle import readable_names
from ..grade.result import GradedCase, GradeResult
from .replay_text import clock_text, us
from .table import Column, console_for, print_lines, table

KERNELS_MAX = 12
OUTPUT_LINES = 12
INDENT = "  "


def render(result: GradeResult, output: TextIO) -> None:
    """Print the tables and the closing lines."""
    console, terminal = console_for(output), output.isatty()
    if result.cases:
        title = f"{result.problem}: {result.submission.path}"
        rows = [_case_row(case) for case in result.cases]
        console.print(table(title, _CASE_COLUMNS, rows, console.width, terminal))
    if result.kernels:
        console.print(table("kernels", _KERNEL_COLUMNS, _kernel_rows(result), console.width, terminal))
    print_lines(console, closing_lines(result, console.width if terminal else None))


def print_bundle(bundle: str, archive: Path | None, output: TextIO) -> None:
    """Print the path of a stored bundle."""
    print_lines(console_for(output), [f"bundle {archive}/bundles/{bundle}.json"])


def closing_lines(result: GradeResult, width: int | None = None) -> Iterator[str]:
    """The lines below the tables, on a terminal of `width` columns."""
    if result.verdict != "pass" and result.output:
        yield "output of the submission (end):"
        for line in result.output.splitlines()[-OUTPUT_LINES:]:
            yield from (f"{INDENT}{part}" for part in _parts(line.expandtabs(4), width))
    if result.device is not None:
        device = result.device
        api = result.settings.api.upper() if result.settings is not None else "driver"
        yield (
            f"device {device.name}, compute {device.compute_major}.{device.compute_minor}, "
            f"{api} {device.driver_version}; {clock_text(result.clocks)}"
        )
    for case in result.cases:
        if case.checks is not None and case.inputs is not None:
            kinds = ", ".join(f"{count} {name}" for name, count in sorted(case.inputs.distributions.items()))
            yield (
                f"{case.name}: {case.checks.samples} outputs checked in full, {case.checks.wrong} wrong; "
                f"{case.inputs.sets} secret input sets ({kinds}), {case.inputs.one_use} of them for one sample each"
            )
        if case.time_us is not None and case.times is not None and case.times.warm is not None:
            yield f"{case.name}: {us(case.times.warm)} us with warm caches; the score is {us(case.time_us.median)} us"
    if result.score_s is not None:
        yield f"score {result.score_s:.6g} s, by the rule of the problem's leaderboard"
    yield from _unknown_lines(result)
    if result.sandbox.full or not result.sandbox.features:  # otherwise a note names the missing protections
        yield f"sandbox: {'full' if result.sandbox.full else 'not started'}"
    if result.audit is not None:
        path = result.audit.path or "deleted (keep it with --keep FOLDER)"
        yield f"audit log {path}, {result.audit.records} records, head {result.audit.head}"
    yield from (f"note: {note}" for note in result.notes)
    parts = ", ".join(f"{name} {took:.2f}" for name, took in result.seconds.items())
    yield f"{result.verdict} in {result.wall_s:.2f} s ({parts}); trust {result.trust}"


def _unknown_lines(result: GradeResult) -> Iterator[str]:
    """The checks that could not tell, by reason."""
    for case in result.cases:
        checks: dict[str, list[str]] = {}
        for each in case.evidence:
            if each.state == "could not tell":
                checks.setdefault(each.text, []).append(each.check)
        for reason, names in checks.items():
            yield f"{case.name}: could not check {', '.join(names)}: {reason}"


_CASE_COLUMNS = (
    Column("case", rest=True),
    Column("verdict"),
    Column("median, us", right=True),
    Column("95 % interval"),
    Column("n", right=True),
    Column("GFLOP/s", right=True),
    Column("GB/s", right=True),
    Column("of ceiling", right=True),
    Column("error", right=True),
)


def _parts(line: str, width: int | None) -> list[str]:
    """A line cut for a terminal, which would not indent the rest: a submission could write a verdict there."""
    return chop_cells(line, max(1, width - len(INDENT))) if width is not None and line else [line]


def _case_row(case: GradedCase) -> list[str]:
    time = case.time_us
    interval = f"{us(time.ci95[0])} to {us(time.ci95[1])}" if time is not None and time.ci95 else ""
    shares = [share for share in (case.share_of_compute, case.share_of_memory) if share is not None]
    return [
        case.name,
        case.verdict,
        us(time.median) if time is not None else "",
        interval,
        str(time.n) if time is not None else "",
        _number(case.gflops),
        _number(case.gbytes_per_s),
        f"{max(shares):.0%}" if shares else "",
        f"{case.max_abs_error:.2g}" if case.max_abs_error is not None else "",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}" if value < 10_000 else f"{value:.0f}"


_KERNEL_COLUMNS = (
    Column("kernel", rest=True),
    Column("launches", right=True),
    Column("grid"),
    Column("block"),
    Column("registers", right=True),
    Column("image"),
    Column("source"),
)


def _kernel_rows(result: GradeResult) -> list[list[str]]:
    rows, kernels = [], result.kernels[:KERNELS_MAX]
    names = readable_names(use.name for use in kernels)
    for use in kernels:
        shape = ["x".join(map(str, use.grid)), "x".join(map(str, use.block))]
        source = (use.source or use.origin).rpartition("/")[2]
        rows.append(
            [
                names[use.name],
                str(use.launches),
                *shape,
                str(use.registers),
                use.image_sha256[:12],
                source,
            ]
        )
    more = len(result.kernels) - KERNELS_MAX
    if more > 0:
        rows.append([f"... {more} more kernels", "", "", "", "", "", ""])
    return rows
