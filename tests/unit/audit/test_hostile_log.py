"""A log with a valid chain may still be made by anyone: its readers refuse it or finish, whatever the calls say."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchguard.audit import memory_calls
from benchguard.audit.log import LogError
from benchguard.cli.output import RowWriter
from benchguard.cli.trace_run import show
from benchguard.cli.trace_text import Filters, Layout, TraceTable
from tests.support.log_lines import Line, call, end, launch, process, session, summary_of

NAMES = sorted(
    {
        *memory_calls.ALLOCATIONS,
        *memory_calls.RELEASES,
        *(
            name
            for group in vars(memory_calls).values()
            if isinstance(group, frozenset)
            for name in group
            if name.startswith(("cu", "hip"))
        ),
        *("cuMemcpy", "cuMemcpyAsync", "hipMemcpy", "cuMemcpy2D_v2", "cuEventElapsedTime", "cuNever\x1b"),
    }
)
NUMBERS = st.sampled_from([0, 1, 2, 7, 4096, 1 << 40]) | st.integers(-(1 << 63), (1 << 64) - 1)
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        ["dptr", "ptr", "size", "bytesize", "dst", "src", "kind", "handle", "width", "height", "\n"]
    ),
    NUMBERS,
    max_size=6,
)


@st.composite
def calls(draw: st.DrawFn) -> Line:
    line = call(draw(st.sampled_from(NAMES)), draw(NUMBERS), draw(st.sampled_from([0, 0, 0, 1, 2, 700])))
    line["arguments"] = draw(ARGUMENTS)
    line["duration_ns"] = draw(NUMBERS)
    line["thread"] = draw(st.integers(0, 2))
    if draw(st.booleans()):
        line["repeats"] = draw(NUMBERS)
    return line


def others() -> st.SearchStrategy[Line]:
    return st.sampled_from(
        [process(5), process(9, "/bin/\x1b"), launch("k", None, None), launch("k", None, None, result=-5)]
    )


@settings(max_examples=150)
@given(st.lists(calls() | others(), max_size=30), st.booleans())
def test_calls_of_any_content_are_summed_up_and_shown(lines: list[Line], complete: bool) -> None:
    summary = summary_of(*lines, complete=complete)
    summary.to_json()
    assert all(row.count >= row.failed for row in summary.calls)
    assert all((row.alive >= 0 and row.alive_bytes >= 0) or row.peak_bytes >= 0 for row in summary.memory)
    output = io.StringIO()
    show([session(), *lines, end()], TraceTable(RowWriter(output), Layout(verbose=True), Filters()))
    assert "\x1b" not in output.getvalue()


@settings(max_examples=150)
@given(
    calls(),
    st.sampled_from(["time_ns", "result", "call", "arguments", "process"]),
    st.none() | st.text() | st.floats(),
)
def test_field_of_another_type_is_refused_or_read(line: Line, name: str, value: Any) -> None:
    for reader in (lambda lines: summary_of(*lines), lambda lines: show([session(), *lines], _table())):
        try:
            reader([{**line, name: value}])
        except LogError as error:
            assert "not a line of an audit log" in str(error)


def _table() -> TraceTable:
    return TraceTable(RowWriter(io.StringIO()), Layout(), Filters())
