"""The result of a comparison as a table and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TextIO

from ..grade.captures_result import CaptureComparison, ComparedPair
from ..grade.compare import CompareResult
from ..grade.compared_case import ComparedCase, Replays
from ..grade.look import SharedRange
from ..quarantine.contract import missing_features
from .replay_text import evidence_text, us
from .table import Column, console_for, print_lines, table

_COLUMNS = (
    Column("case", rest=True),
    Column("B is"),
    Column("B / A", right=True),
    Column("95 % interval"),
    Column("A, us", right=True),
    Column("B, us", right=True),
    Column("A/A floor", right=True),
)


def render(result: CompareResult, output: TextIO) -> None:
    """Print the cases that were compared, and the result over all of them."""
    sides = (result.a.submission, result.b.submission)
    roles = [f"{role} is {side.path}, SHA-256 {side.sha256}" for role, side in zip("AB", sides, strict=True)]
    _render(result, (str(sides[0].path), str(sides[1].path)), roles, [], output)


def render_captures(result: CaptureComparison, output: TextIO) -> None:
    """Print the pairs that were compared, what was checked, and the result over all of them."""
    roles = [
        f"{role} is {label}" + "".join(f", SHA-256 {side.sha256}" for side in sides)
        for role, label, sides in zip(
            "AB", result.labels, ([p.a for p in result.pairs], [p.b for p in result.pairs]), strict=True
        )
    ]
    facts = [
        line for case, pair in zip(result.cases, result.pairs, strict=True) for line in _facts(case, pair)
    ]
    _render(result, result.labels, roles, [*facts, *_trust(result)], output)


def _render(
    result: CompareResult | CaptureComparison,
    labels: tuple[str, str],
    roles: Sequence[str],
    facts: Sequence[str],
    output: TextIO,
) -> None:
    console, terminal = console_for(output), output.isatty()
    rows = [
        [
            case.name,
            case.call,
            f"{case.ratio:.4f}",
            f"{case.ratio95[0]:.4f} to {case.ratio95[1]:.4f}",
            us(case.median_a_us),
            us(case.median_b_us),
            f"{case.floor:.2%}",
        ]
        for case in result.cases
    ]
    if not rows:
        return
    console.print(table(f"{labels[0]} (A) and {labels[1]} (B)", _COLUMNS, rows, console.width, terminal))
    print_lines(console, [*roles, *map(_power_line, result.cases), *facts, *_doubts(result)])
    if result.call is not None:
        print_lines(console, [f"B is {result.call}; compared in {result.wall_s:.1f} s"])


def _facts(case: ComparedCase, pair: ComparedPair) -> Iterator[str]:
    """The memory that both sides name, the checks of strict replays, and notes."""
    if not pair.memory:
        yield f"{case.name}: A and B name no memory of the same name and size, so none was compared"
    for each in pair.memory:
        yield f"{case.name}: {_shared_text(each)}"
    for role, side in (("A", pair.a), ("B", pair.b)):
        if side.verified:
            yield f"{case.name}: {role} verified: memory equals the captured memory, byte for byte"
        if side.evidence:
            yield f"{case.name}: {role} {evidence_text(side.evidence)}"
        if side.sandbox:
            missing = missing_features(side.sandbox, network=False)
            yield f"{role} sandbox: partial ({missing})" if missing else f"{role} sandbox: full"
        yield from (f"{role} note: {note}" for note in side.notes)


def _shared_text(each: SharedRange) -> str:
    if each.differing == 0:
        return f"{each.role} {each.name!r} is the same in A and B"
    largest = (
        f"; the largest difference is {each.largest_difference:.3g}"
        if each.largest_difference is not None
        else ""
    )
    return f"{each.role} {each.name!r} differs between A and B in {each.differing} of {each.bytes} bytes{largest}"


def _trust(result: CaptureComparison) -> Iterator[str]:
    """How far the result may be trusted."""
    if result.outputs_checked:
        yield (
            "outputs of all timed samples were checked against an untimed run of the same capture; without a problem, "
            "it is not known whether they are right"
        )
    elif result.strict:
        yield "outputs of timed samples could not be checked"
    else:
        yield (
            "outputs of timed samples were not checked, and both captures are taken to be honest; check them with "
            "--strict"
        )


def _power_line(case: ComparedCase) -> str:
    clocks, busy = _sides(case.clocks_mhz), _sides(case.busy)
    a, b = (
        f"{name} {mhz:.0f} MHz, busy {share:.0%}" for name, mhz, share in zip("AB", clocks, busy, strict=True)
    )
    return f"{case.name}: {a}; {b}"


def _sides(blocks: Sequence[Replays]) -> tuple[float, float]:
    """The median of the replays of each side."""
    a = [value for each in blocks for value in (each[0], each[3])]
    b = [value for each in blocks for value in (each[1], each[2])]
    return median(a), median(b)


def _doubts(result: CompareResult | CaptureComparison) -> Iterator[str]:
    return (f"{case.name}: {case.reason}" for case in result.cases if case.reason)
