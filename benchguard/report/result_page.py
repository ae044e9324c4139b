"""The page of the result of a grade or a comparison: samples, blocks, cases, verdict, evidence. It may be hostile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..audit.demangle import readable_names
from ..errors import UsageError
from ..grade.captures_result import SCHEMA as CAPTURES_SCHEMA
from ..grade.captures_result import CaptureComparison, ComparedCapture
from ..grade.compare import SCHEMA as COMPARE_SCHEMA
from ..grade.compare import CompareResult
from ..grade.compared_case import ComparedCase
from ..grade.result import SCHEMA as GRADE_SCHEMA
from ..grade.result import GradedCase, GradeResult
from ..ipc.bounded_file import read_bounded
from ..ipc.json_text import UNREADABLE, unique
from .log_tables import columns
from .page import PALETTE, ROWS_MAX, Badge, Cell, Chart, Page, Row, Section, first_rows, number, text

RESULT_MAX = 256 << 20
CHARTS_MAX = 24
POINTS_MAX = 2000
"""Samples that a chart draws; the others are left out evenly in the order of size."""

OUTPUT_LINES = 100
HINT = "Point at a box to read it. Press + and - to zoom, the arrows to move, 0 to show all."

Result = GradeResult | CompareResult | CaptureComparison


class _Head(msgspec.Struct):
    schema: str = ""


def read_result(path: Path) -> Result:
    """Read a document of `grade --json` or `compare --json`. Raises UsageError for other files."""
    try:
        data = read_bounded(path, RESULT_MAX)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the path") from error
    try:
        schema = msgspec.json.decode(unique(data), type=_Head).schema
        if schema == GRADE_SCHEMA:
            return msgspec.json.decode(data, type=GradeResult)
        if schema == COMPARE_SCHEMA:
            return msgspec.json.decode(data, type=CompareResult)
        if schema == CAPTURES_SCHEMA:
            return msgspec.json.decode(data, type=CaptureComparison)
    except UNREADABLE as error:
        raise UsageError(
            f"{path} is not a result of this version: {error}; give a file of `grade --json`"
        ) from error
    raise UsageError(f"{path} is neither an audit log nor a result of grade or compare; name one of them")


def result_page(result: Result) -> Page:
    """The page of a result."""
    if isinstance(result, GradeResult):
        title = f"{result.problem}: {result.submission.path}"
    elif isinstance(result, CaptureComparison):
        title = f"{result.labels[0]} (A) and {result.labels[1]} (B)"
    else:
        title = f"{result.a.problem}: {result.a.submission.path} (A) and {result.b.submission.path} (B)"
    return Page(title, _badges(result), [], result_sections(result))


def _badges(result: Result) -> list[Badge]:
    verdict = Badge(f"verdict {result.verdict}", "good" if result.verdict == "pass" else "bad")
    if not isinstance(result, GradeResult):
        return [verdict, *([Badge(f"B is {result.call}")] if result.call else [])]
    badges = [verdict, Badge(f"trust: {result.trust}")]
    if result.sandbox.features:
        badges.append(Badge("sandbox full", "good") if result.sandbox.full else Badge("sandbox partial"))
    return badges if result.converged is not False else [*badges, Badge("not converged", "bad")]


def result_sections(result: Result, prefix: str = "") -> list[Section]:
    """The sections of a result, for its own page or for that of a log, where `prefix` keeps their names apart."""
    if isinstance(result, GradeResult):
        return _grade_sections(result, " of the result" if prefix else "", prefix)
    if isinstance(result, CaptureComparison):
        return _capture_sections(result)
    sides = [("A", f"{prefix}a-", result.a), ("B", f"{prefix}b-", result.b)]
    return [
        Section(
            "comparison", "Comparison", [result.reason] if result.reason else [], facts=_compare_facts(result)
        ),
        *([_compared(result.cases)] if result.cases else []),
        *(each for name, side, grade in sides for each in _grade_sections(grade, f" of {name}", side)),
    ]


def _capture_sections(result: CaptureComparison) -> list[Section]:
    facts = [
        ("B is", result.call or "not compared"),
        ("Verdict", result.verdict),
        ("A", result.labels[0]),
        ("B", result.labels[1]),
        ("Strict", "yes" if result.strict else "no"),
        (
            "Outputs",
            "of all samples compared with an untimed run" if result.outputs_checked else "not compared",
        ),
        ("Took", f"{result.wall_s:.1f} s"),
    ]
    sides = [
        (f"{place} {name}", each)
        for place, pair in enumerate(result.pairs, 1)
        for name, each in (("A", pair.a), ("B", pair.b))
    ]
    return [
        Section("comparison", "Comparison", [result.reason] if result.reason else [], facts=facts),
        *([_compared(result.cases)] if result.cases else []),
        *([_captures(sides)] if sides else []),
    ]


def _captures(sides: Sequence[tuple[str, ComparedCapture]]) -> Section:
    captures: list[Row] = [
        [
            text(name), text(each.path), text(each.region), Cell(each.sha256[:12], code=True),
            text({None: "not verified", True: "equal", False: "different"}[each.verified]), text(" ".join(each.notes)),
        ]
        for name, each in sides
    ]  # fmt: skip
    checks: list[Row] = [
        [text(name), text(each.check), text(each.state), text(each.text)]
        for name, side in sides
        for each in side.evidence
    ]
    headings = columns("Pair", "File", "Region", "Capture", "Memory after the replay", "Notes")
    tables = [
        first_rows("Captures", headings, captures, "in order"),
        first_rows("Checks of the time", columns("Pair", "Check", "State", "Reason"), checks, "in order"),
    ]
    return Section("captures", "Captures", tables=[table for table in tables if table.rows])


def _compare_facts(result: CompareResult) -> list[tuple[str, str]]:
    return [
        ("B is", result.call or "not compared"),
        ("Verdict", result.verdict),
        ("A", result.a.submission.path),
        ("B", result.b.submission.path),
        ("Took", f"{result.wall_s:.1f} s"),
    ]


def _compared(cases: Sequence[ComparedCase]) -> Section:
    rows: list[Row] = [
        [
            text(case.name), text(case.call), _number(case.ratio), text(_interval(case.ratio95)), _number(case.floor),
            _number(case.median_a_us), _number(case.median_b_us), number(case.samples), text(case.reason),
        ]
        for case in cases
    ]  # fmt: skip
    headings = columns(
        "Case", "B is", "#B / A", "95 % interval", "#A/A floor", "#A, us", "#B, us", "#Samples", "Reason"
    )
    blocks: list[Row] = [
        [
            text(case.name), number(place + 1), *map(_number, times),
            text(_clocks(case, place)),
        ]
        for case in cases
        for place, times in enumerate(case.blocks)
    ]  # fmt: skip
    tables = [
        first_rows("Cases", headings, rows, "in the order of the problem"),
        first_rows(
            "Blocks: median of each replay, in the order A B B A",
            columns("Case", "#Block", "#A, us", "#B, us", "#B, us", "#A, us", "Clocks, MHz"),
            blocks,
            "in the order of the replays",
        ),
    ]
    charts = []
    for place, case in enumerate(cases[:CHARTS_MAX]):
        a = [time for block in case.blocks for time in (block[0], block[3])]
        b = [time for block in case.blocks for time in (block[1], block[2])]
        series = [(f"{case.name}: A", a), (f"{case.name}: B", b)]
        charts.append(
            _samples_chart(f"blocks-{place}", f"Medians of the replays of case {case.name}", series)
        )
    notes = ["A point is the median of one replay; both sides of a block have the same secret inputs."]
    return Section("compared-cases", "Compared cases", notes, charts=charts, tables=tables)


def _clocks(case: ComparedCase, block: int) -> str:
    """The clock of each replay of a block; empty where no clock is known."""
    clocks = case.clocks_mhz[block] if block < len(case.clocks_mhz) else ()
    return " ".join(f"{each:.0f}" for each in clocks) if any(clocks) else "unknown"


def _grade_sections(result: GradeResult, of: str, prefix: str) -> list[Section]:
    sections = [
        _verdict(result, of, prefix),
        _cases(result.cases, of, prefix),
        _evidence(result.cases, of, prefix),
        _kernels(result, of, prefix),
        _sandbox(result, of, prefix),
        _output(result, of, prefix),
    ]
    return [each for each in sections if each.tables or each.facts or each.charts]


def _verdict(result: GradeResult, of: str, prefix: str) -> Section:
    facts = [
        ("Verdict", f"{result.verdict}: {result.reason}" if result.reason else result.verdict),
        ("Problem", result.problem),
        ("Submission", f"{result.submission.path} ({result.submission.language}, {result.submission.entry})"),
        ("SHA-256", result.submission.sha256),
    ]
    if result.device is not None:
        facts.append(("Device", result.device.name))
    if result.clocks.unavailable:
        facts.append(("Clocks", result.clocks.unavailable))
    elif result.clocks.sm_mhz is not None:
        spread = result.clocks.sm_mhz
        facts.append(("Clocks", f"{spread.min:.0f} to {spread.max:.0f} MHz, median {spread.median:.0f} MHz"))
    if result.audit is not None:
        complete = "" if result.audit.complete else ", incomplete"
        facts.append(("Audit log", f"{result.audit.records:,} records{complete}, head {result.audit.head}"))
    if result.score_s is not None:
        facts.append(("Score", f"{result.score_s:.6g} s"))
    facts += [("Took", f"{result.wall_s:.1f} s"), ("Graded by", f"neutrino-bench {result.version}")]
    return Section(f"{prefix}verdict", f"Verdict{of}", list(result.notes), facts=facts)


def _cases(cases: Sequence[GradedCase], of: str, prefix: str) -> Section:
    rows: list[Row] = [
        [
            text(case.name), text(case.verdict), _number(case.time_us.median if case.time_us else None),
            text(_interval(case.time_us.ci95) if case.time_us and case.time_us.ci95 else ""),
            number(case.time_us.n if case.time_us else 0), _number(case.times.warm if case.times else None),
            _number(case.gflops), _number(case.gbytes_per_s), _number(case.max_abs_error),
            number(case.checks.samples if case.checks else 0), number(case.checks.wrong if case.checks else 0),
            text(case.reason),
        ]
        for case in cases
    ]  # fmt: skip
    headings = columns(
        "Case", "Verdict", "#Median, us", "95 % interval", "#Samples", "#Warm, us", "#GFLOP/s", "#GB/s",
        "#Largest error", "#Outputs checked", "#Wrong", "Reason",
    )  # fmt: skip
    timed = [case for case in cases if case.samples]
    charts = [
        _samples_chart(
            f"{prefix}samples-{place}", f"Samples of case {case.name}", [(case.name, list(case.samples))]
        )
        for place, case in enumerate(timed[:CHARTS_MAX])
    ]
    notes = []
    if len(timed) > CHARTS_MAX:
        notes.append(f"Charts are drawn for {CHARTS_MAX} of {len(timed)} cases; the table has all.")
    if any(len(case.samples) > POINTS_MAX for case in timed[:CHARTS_MAX]):
        notes.append(
            f"A chart draws at most {POINTS_MAX:,} samples of a case, chosen evenly in the order of size."
        )
    table = first_rows("Cases", headings, rows, "in the order of the problem")
    return Section(f"{prefix}cases", f"Cases{of}", notes, charts=charts, tables=[table] if rows else [])


def _evidence(cases: Sequence[GradedCase], of: str, prefix: str) -> Section:
    rows: list[Row] = [
        [text(case.name), text(each.check), text(each.state), text(each.text)]
        for case in cases
        for each in case.evidence
    ]
    table = first_rows("Checks of the time", columns("Case", "Check", "State", "Reason"), rows, "in order")
    return Section(f"{prefix}evidence", f"Evidence{of}", tables=[table] if rows else [])


def _kernels(result: GradeResult, of: str, prefix: str) -> Section:
    names = readable_names(each.name for each in result.kernels[:ROWS_MAX])
    rows: list[Row] = [
        [
            text(names.get(each.name, each.name)), number(each.launches), text("x".join(map(str, each.grid))),
            text("x".join(map(str, each.block))), number(each.registers), number(each.shared_bytes),
            Cell(each.image_sha256[:12], code=True), text(each.source or each.origin),
        ]
        for each in result.kernels
    ]  # fmt: skip
    headings = columns(
        "Kernel", "#Launches", "Grid", "Block", "#Registers", "#Shared, bytes", "Image", "Source"
    )
    table = first_rows("Kernels", headings, rows, "in the order of the result")
    return Section(f"{prefix}kernels", f"Kernels{of}", tables=[table] if rows else [])


def _sandbox(result: GradeResult, of: str, prefix: str) -> Section:
    rows: list[Row] = [[text(name), text(state)] for name, state in result.sandbox.features.items()]
    table = first_rows("Protections", columns("Protection", "State"), rows, "in order")
    return Section(f"{prefix}sandbox", f"Sandbox{of}", tables=[table] if rows else [])


def _output(result: GradeResult, of: str, prefix: str) -> Section:
    lines = result.output.splitlines()[-OUTPUT_LINES:]
    notes = ["The submission chooses this text, and can forge it."]
    table = first_rows("Last lines", columns("Output"), [[text(line)] for line in lines], "the last ones")
    return Section(f"{prefix}output", f"Output of the submission{of}", notes, tables=[table] if lines else [])


def _samples_chart(name: str, label: str, series: Sequence[tuple[str, list[float]]]) -> Chart:
    values = [value for _, each in series for value in each]
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = (high - low) / 20 or max(abs(high) / 20, 1e-3)
    data = {
        "kind": "samples",
        "hint": HINT,
        "unit": "time, us",
        "range": [low - margin, high + margin],
        "series": [
            {
                "name": each,
                "color": PALETTE[place % len(PALETTE)],
                "values": _thinned(times),
                "text": f"{len(times):,} values from {min(times):.6g} to {max(times):.6g} us"
                if times
                else "no values",
            }
            for place, (each, times) in enumerate(series)
        ],
    }
    return Chart(name, label, data)


def _thinned(values: list[float]) -> list[float]:
    if len(values) <= POINTS_MAX:
        return values
    ordered = sorted(values)
    return [ordered[place * (len(ordered) - 1) // (POINTS_MAX - 1)] for place in range(POINTS_MAX)]


def _number(value: float | None) -> Cell:
    return Cell("", -1) if value is None else number(value, _digits(value))


def _interval(interval: tuple[float, float]) -> str:
    return f"{_digits(interval[0])} to {_digits(interval[1])}"


def _digits(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
