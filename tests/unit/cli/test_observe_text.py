"""Log lines in, tables out. Refresh with `python tests/unit/cli/test_observe_text.py` and read the difference."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run as a script too

from benchguard.audit.log import LogError
from benchguard.audit.summary import Summary, summarise_lines
from benchguard.cli.observe_text import render
from tests.support.log_lines import (
    HEAD,
    call,
    end,
    graph,
    graph_launch,
    image,
    launch,
    node,
    process,
    session,
)

GOLDEN = Path(__file__).parent / "golden"
LONG = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>"


def lines() -> Iterator[tuple[dict[str, Any], str]]:
    for line in _lines():
        yield line, HEAD


def _lines() -> Iterator[dict[str, Any]]:
    one, two = "1" * 64, "2" * 64
    common = {"time_ns": 0, "process": 1, "thread": 1}
    scale = node("scale", one, [2, 1, 1], [32, 1, 1])
    yield session()
    yield process()
    yield image(one, "/opt/torch/lib/libtorch_cuda.so")
    yield image(None, "a.out", note="the image store is full")
    for time in range(3):
        yield launch("_ZLONG", LONG, one, duration_ns=4000 + time)
    yield launch("scale", None, one, grid=[8, 1, 1])
    yield launch("\x1b[2J[bold]evil\u202e", None, two)
    yield launch("scale", None, one, result=700)
    yield launch("scale", None, one, captured=True)
    yield graph(1, [scale, scale])
    yield graph_launch(1)
    yield {
        "kind": "unmapped",
        "time_ns": 0,
        "process": 1,
        "thread": 1,
        "name": "cuNew\n",
        "asked_version": 0,
        "flags": 0,
    }
    yield {
        "kind": "in_flight",
        "time_ns": 0,
        "process": 1,
        "thread": 1,
        "call": "cuCtxSynchronize",
        "since_ns": 0,
    }
    yield call("cuGetExportTable", 1000, ppExportTable=1, pExportTableId=2)
    yield call("cuMemAlloc_v2", 10000, dptr=0x1000, bytesize=4096)
    yield call("cuMemAlloc_v2", 20000, dptr=0x2000, bytesize=1 << 30)
    yield call("cuMemAlloc_v2", 30000, 2, dptr=0, bytesize=1 << 50)
    yield call("cuMemcpyHtoD_v2", 40000, duration_ns=2000, dstDevice=0x1000, srcHost=5, ByteCount=4096)
    yield call("cuMemFree_v2", 50000, dptr=0x1000)
    yield call("cuMemFree_v2", 60000, 1, dptr=0x1000)
    decision = {
        "kind": "decision",
        **common,
        "call": "cuMemAlloc_v2",
        "phase": "timing",
        "origin": "/x/libevil.so",
    }
    denied = {"action": "deny", "rule": "no memory", "arguments": {"dptr": 0, "bytesize": 64}, "result": 801}
    yield {**decision, **denied, "kernel": None, "image": None}
    yield {**decision, **denied, "kernel": None, "image": None}
    yield call("cuEventQuery", 70000, 600, hEvent=3)
    counts = {
        "calls": 8,
        "processes": 1,
        "dropped": 2,
        "images_dropped": 1,
        "rings_exhausted": 1,
        "outlived": [7],
    }
    yield end(status=3, **counts, unobserved=["4711 ./clean \x1b[2J"], complete=False)


def text(summary: Summary) -> str:
    output = io.StringIO()
    render(summary, Path("run.audit.jsonl"), output)
    return "".join(line.rstrip() + "\n" for line in output.getvalue().splitlines())


def test_summary_tables_equal_golden_file() -> None:
    assert text(summarise_lines(lines())) == (GOLDEN / "summary.txt").read_text()


def test_summary_json_equals_golden_file() -> None:
    assert summarise_lines(lines()).to_json() + "\n" == (GOLDEN / "summary.json").read_text()


def test_control_characters_in_names_are_escaped() -> None:
    shown = text(summarise_lines(lines()))
    assert "\x1b" not in shown and "\u202e" not in shown
    assert "\\x1b[2J[bold]evil\\u202e" in shown


def test_kernels_beyond_limit_are_summed() -> None:
    many = [(launch(f"k{n}", None, "1" * 64), HEAD) for n in range(50)]
    shown = text(summarise_lines(many))
    assert "... 30 more kernels" in shown and "k49" not in shown


def test_failures_beyond_every_limit_are_shown() -> None:
    """The calls that take most time come first; one that failed is shown wherever it comes."""
    quick = [call(f"cuSlow{n}", n, duration_ns=10**9) for n in range(50)]
    failed = [launch(f"k{n}", None, "1" * 64) for n in range(50)] + [launch("last", None, "2" * 64, result=1)]
    lines = [*quick, *failed, call("cuModuleLoadData", 99, 218, duration_ns=1, module=0, image=5)]
    shown = text(summarise_lines((line, HEAD) for line in lines))
    assert "cuModuleLoadData" in shown and "CUDA_ERROR_INVALID_PTX 1" in shown and "last " in shown
    assert "failed calls: 2, 1 of them launches" in shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", ["40", "80", "120", "300"])
def test_terminal_of_any_width_shows_every_fact(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    output = Terminal()
    render(summarise_lines(lines()), Path("run.audit.jsonl"), output)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output.getvalue())
    assert "…" not in plain and "\x1b[31m" in output.getvalue()
    joined = re.sub(r"\s+", "", plain)
    for fact in ("CUDA_ERROR_OUT_OF_MEMORY", "doublefree", "0x1000", str(1 << 30), "p99", "libtorch_cuda.so"):
        assert fact in joined
    tables = plain[: plain.index("launches and")].splitlines()
    assert max(map(len, tables)) <= int(width)


def test_repeated_calls_count_as_often_as_they_happened() -> None:
    line = {**call("cuEventQuery", 0, 600, duration_ns=5000, hEvent=3), "repeats": 1000}
    (row,) = summarise_lines([(line, HEAD)]).calls
    assert (row.count, row.failed, row.errors) == (1000, 0, {"CUDA_ERROR_NOT_READY": 1000})
    assert row.host.total_ns == 5000 and row.host.median_ns == 5


def test_argument_that_is_not_finite_is_read() -> None:
    line = {**call("cuEventElapsedTime_v2", 0, pMilliseconds=0x7FC00000), "floats": {"pMilliseconds": None}}
    assert summarise_lines([(line, HEAD)]).calls[0].count == 1


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    output = Terminal()
    render(summarise_lines(lines()), Path("run.audit.jsonl"), output)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", output.getvalue())


def test_pipe_gets_no_escape_sequences() -> None:
    assert "\x1b" not in text(summarise_lines(lines()))


@pytest.mark.parametrize(
    "change", [{"grid": ["x", 1, 1]}, {"result": "0"}, {"call": 5}, {"duration_ns": None}]
)
def test_altered_line_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(LogError, match="line 1: not a line of an audit log"):
        summarise_lines([({**launch("k", None, None), **change}, HEAD)])


def test_line_of_a_later_kind_is_passed_over() -> None:
    assert summarise_lines([({"kind": "later"}, HEAD)]).lines == 1


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / "summary.txt").write_text(text(summarise_lines(lines())))
    (GOLDEN / "summary.json").write_text(summarise_lines(lines()).to_json() + "\n")


def timed_lines(overhead_ns: int | None = None) -> Iterator[tuple[dict[str, Any], str]]:
    time = {
        "kind": "launch_time",
        "time_ns": 5,
        "process": 1,
        "thread": 1,
        "number": 1,
        "stream": 0,
        "kernel": 1,
    }
    time |= {
        "graph": None,
        "name": "scale",
        "demangled": None,
        "image": "1" * 64,
        "gpu_ns": 2500,
        "early": True,
    }
    overhead = {} if overhead_ns is None else {"gpu_overhead_ns": overhead_ns}
    yield {**session(), "gpu_time": True, **overhead}, HEAD
    for line in (
        launch("scale", None, "1" * 64),
        launch("scale", None, "1" * 64),
        launch("_Zother", "other", None),
    ):
        yield line, HEAD
    yield launch("scale", None, "1" * 64, captured=True), HEAD
    yield launch("scale", None, "1" * 64, result=700), HEAD
    yield time, HEAD
    yield {**time, "kernel": None, "graph": 3, "name": None, "image": None}, HEAD
    yield end(), HEAD


def test_gpu_times_have_columns_of_their_own_and_unmeasured_launches_are_counted() -> None:
    summary = summarise_lines(timed_lines())
    scale, other = summary.kernels
    assert scale.gpu is not None and (scale.gpu.launches, scale.gpu.early, scale.gpu.total_ns) == (1, 1, 2500)
    assert other.gpu is None
    assert (summary.gpu_launches, summary.gpu_graph_launches, summary.gpu_unmeasured) == (2, 1, 1)
    shown = text(summary)
    assert "host total" in shown and "GPU total" in shown and "2.5 us" in shown
    assert "launches timed on the GPU: 2, 1 of them graphs; unmeasured: 1; times include what" in shown


@pytest.mark.parametrize(("overhead_ns", "total_ns"), [(1900, 600), (2600, 0)])
def test_gpu_times_are_without_what_the_events_around_a_launch_add(overhead_ns: int, total_ns: int) -> None:
    summary = summarise_lines(timed_lines(overhead_ns))
    times = summary.kernels[0].gpu
    assert times is not None and (times.total_ns, times.median_ns) == (total_ns, total_ns)
    assert summary.gpu_overhead_ns == overhead_ns
    assert f"{overhead_ns / 1e3:.3g} us for the events around a launch are subtracted" in text(summary)
