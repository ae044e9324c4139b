"""Log lines in, rows out. Refresh with `python tests/unit/cli/test_trace_text.py` and read the difference."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run as a script too

from benchguard.audit.log import LogError
from benchguard.cli.output import RowWriter
from benchguard.cli.trace_run import show
from benchguard.cli.trace_text import Filters, Layout, TraceTable
from tests.support.log_lines import Line, call, end, graph_launch, image, launch, process, session

GOLDEN = Path(__file__).parent / "golden" / "trace.txt"
HOSTILE = "\x1b[2J[bold]evil\n\u202e"


def lines() -> Iterator[Line]:
    common = {"process": 1, "thread": 1}
    yield session()
    yield process(1000, "/usr/bin/basic02")
    yield image("1" * 64, "a.out", time_ns=1500)
    yield call("cuMemAlloc_v2", 2000, duration_ns=500, dptr=0x1000, bytesize=4000)
    yield call("cuMemcpyHtoD_v2", 3000, duration_ns=500, dstDevice=0x1000, srcHost=0x7F00, ByteCount=4000)
    yield launch("_Z6vecAddPf", "vecAdd(float*)", "1" * 64, time_ns=4000, duration_ns=800, stream=0xABC)
    yield launch(HOSTILE, None, None, time_ns=5000, duration_ns=10, result=701, cooperative=True)
    # Another thread frees while the first one waits: its rows stand between the two of the wait.
    yield call("cuStreamSynchronize", 6000, duration_ns=9000, hStream=0xABC)
    yield call("cuMemFree_v2", 7000, duration_ns=500, dptr=0x1000, thread_=2)
    yield call("cuMemFree_v2", 8000, 1, duration_ns=500, dptr=0x1000, thread_=2)
    yield graph_launch(3, time_ns=20000, call="cuGraphLaunch", kernels=2, stream=1)
    yield call("cuEventQuery", 30000, 600, hEvent=3)
    decision = {"kind": "decision", "time_ns": 31000, **common, "call": "cuMemAlloc_v2", "action": "deny"}
    denied = {"rule": "no memory", "arguments": {"dptr": 0, "bytesize": 64}, "result": 801, "kernel": None}
    yield {**decision, **denied, "phase": "timing", "origin": "/x/libevil.so", "image": None}
    yield {"kind": "note", "time_ns": 32000, **common, "text": HOSTILE}
    yield {"kind": "lost", "time_ns": 33000, **common, "records": 7, "corrupt": None}
    yield {"kind": "in_flight", "time_ns": 34000, **common, "call": "cuCtxSynchronize", "since_ns": 34000}
    yield {"kind": "later", "time_ns": 1}
    yield end(time_ns=40000, status=1, dropped=7, complete=False)


def text(
    given: Iterable[Line | None],
    layout: Layout | None = None,
    filters: Filters | None = None,
    output: Any = None,
) -> str:
    output = output or io.StringIO()
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        show(given, TraceTable(RowWriter(output), layout or Layout(), filters or Filters()))
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()
    return "".join(line.rstrip() + "\n" for line in output.getvalue().splitlines())


def events(shown: str) -> list[str]:
    """The names and types of the rows."""
    return [" ".join(row.split()[3:5]) for row in shown.splitlines()[1:]]


def test_rows_equal_golden_file() -> None:
    assert text(lines()) == GOLDEN.read_text()


def test_rows_of_a_live_log_are_the_same() -> None:
    """None means that the next line is not there yet, and gives what is held back."""

    def slowly() -> Iterator[Line | None]:
        for number, line in enumerate(lines()):
            yield line
            if number not in (7, 8):  # not between lines of calls that overlap
                yield None

    assert text(slowly()) == GOLDEN.read_text()


def test_hostile_names_are_escaped() -> None:
    shown = text(lines(), Layout(verbose=True))
    assert "\x1b" not in shown and "\u202e" not in shown and "\\x1b[2J[bold]evil" in shown
    assert all(row[:3] in ("TIM", "10:") for row in shown.splitlines())


def test_layout_leaves_out_times_and_returns() -> None:
    shown = text(lines(), Layout(times=False, returns=False))
    assert shown.startswith("PROCESS") and "[EXIT]" not in shown and "10:00:00" not in shown


def test_verbose_rows_have_thread_and_line_and_code() -> None:
    shown = text(lines(), Layout(verbose=True))
    assert "[LOAD]" in shown and shown.splitlines()[0].split()[3:5] == ["THREAD", "LINE"]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (Filters(calls=("cuMemFree",)), {"cuMemFree_v2"}),
        (Filters(calls=("cudaMa*",)), {"cuMemAlloc_v2"}),
        (Filters(kernels=("vecAdd*",)), {"cuLaunchKernel"}),
        (Filters(streams=(0xABC,)), {"cuLaunchKernel", "cuStreamSynchronize"}),
        (Filters(streams=(1,)), {"cuGraphLaunch"}),
        (Filters(threads=(2,)), {"cuMemFree_v2"}),
        (Filters(process=2), set()),
        (Filters(executable="/bin/other"), set()),
        (Filters(executable="/usr/bin/basic02", calls=("cuMemcpy*",)), {"cuMemcpyHtoD_v2"}),
        (Filters(errors=True, calls=("cu*",)), {"cuLaunchKernel", "cuMemFree_v2"}),
    ],
)
def test_filters_show_their_calls(filters: Filters, names: set[str]) -> None:
    shown = events(text(lines(), filters=filters))
    assert {each.split()[0] for each in shown if each.endswith(("[ENTER]", "[EXIT]"))} == names


def test_query_that_is_not_ready_is_no_error() -> None:
    assert "cuEventQuery" not in text(lines(), filters=Filters(errors=True))


def test_losses_are_shown_with_every_filter_of_calls() -> None:
    assert "[LOST]" in text(lines(), filters=Filters(calls=("cuNone",)))


def test_runtime_names_stand_beside_the_drivers() -> None:
    assert "cuMemAlloc_v2 (cudaMalloc)" in text(lines(), Layout(runtime=True))
    hip = [session(api="hip"), call("hipMalloc", 1, ptr=1, size=2), end()]
    assert "hipMalloc  " in text(hip, Layout(runtime=True))


def test_repeated_calls_are_one_row_with_their_number() -> None:
    line = {**call("cuEventQuery", 1, 600, hEvent=3), "repeats": 12}
    assert "hEvent=0x3, 12 equal calls" in text([session(), line, end()])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", ["60", "100", "140"])
def test_details_wrap_on_a_terminal_without_loss(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = text(lines(), Layout(times=False), output=Terminal())
    wide = text(lines(), Layout(times=False))
    assert "".join(shown.split()) == "".join(wide.split())
    assert max(map(len, shown.splitlines())) <= max(int(width), 69), "the heading has 69 columns"
    below = [line for line in shown.splitlines() if line.startswith(" ") and not line.startswith(" " * 5)]
    assert bool(below) == (int(width) < 80), "details follow below rows that leave no room for them"


def test_errors_are_red_unless_colour_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    red = [row for row in text(lines(), output=Terminal()).splitlines() if row.startswith("\x1b[31m")]
    assert len(red) == 4  # two failed exits, a denied call, a loss
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in text(lines(), output=Terminal())


def test_altered_line_ends_the_rows_with_an_error() -> None:
    output = io.StringIO()
    with pytest.raises(LogError, match="line 3: not a line of an audit log"):
        text([session(), process(), {**call("cuInit", 1), "result": "0"}], output=output)
    assert "[START]" in output.getvalue()


@pytest.mark.parametrize("pattern", ["*::scale(Array*", "*abi:v1*"])
def test_kernel_of_numba_has_its_name_without_abi_tags(pattern: str) -> None:
    """A pattern fits the name with its tags, too."""
    name = "m::scale[abi:v1][abi:c1A](Array<float, 1>)"
    shown = text([session(), launch("_ZN1m5scaleE", name, None)], filters=Filters(kernels=(pattern,)))
    assert "kernel=m::scale(Array<float, 1>), grid=" in shown and "abi:" not in shown


if __name__ == "__main__":
    GOLDEN.write_text(text(lines()))
