"""Pages of results: verdict, samples, blocks, evidence; a result on the page of a log; other documents are refused."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from benchguard.cli.main import cli, main
from benchguard.errors import UsageError
from benchguard.grade.captures_result import SCHEMA as CAPTURES
from benchguard.grade.captures_result import CaptureComparison, ComparedCapture, ComparedPair
from benchguard.grade.compare import SCHEMA as COMPARE
from benchguard.grade.compare import CompareResult
from benchguard.grade.compared_case import ComparedCase
from benchguard.grade.evidence import KernelEvidence
from benchguard.grade.result import GradeResult
from benchguard.replay.evidence import Evidence
from benchguard.replay.result import Settings
from benchguard.report.page import render
from benchguard.report.result_page import POINTS_MAX, read_result, result_page
from tests.support import logs
from tests.unit.compat.made import made_case, made_result
from tests.unit.report.test_page import Parsed, small_plotly

pytest.importorskip("plotly", reason="the extra `report` is not installed")
__all__ = ["small_plotly"]

HOSTILE = "</script><script>alert(1)</script>"


def graded(name: str = "one", samples: tuple[float, ...] = (1.0, 2.0, 4.0)) -> GradeResult:
    case = made_case(name, samples=samples, evidence=(Evidence("host clock", "could not tell", "no clock"),))
    return msgspec.structs.replace(made_result(case), output=f"{name} printed")


def compared() -> CompareResult:
    case = ComparedCase(
        name="one", call="FASTER", ratio=0.5, ratio95=(0.4, 0.6), floor=1.01, median_a_us=20.0, median_b_us=10.0,
        one_use_a=False, one_use_b=False, capture_a="a" * 64, capture_b="b" * 64, samples=12,
        blocks=((20.0, 10.0, 10.5, 21.0), (20.5, 10.1, 10.2, 20.1)), clocks_mhz=((1500.0,) * 4, (0.0,) * 4),
        busy=((0.5,) * 4,) * 2,
    )  # fmt: skip
    return CompareResult(COMPARE, "FASTER", "pass", "", (case,), graded("a"), graded("b"), 3.5)


def compared_captures() -> CaptureComparison:
    settings = Settings(
        cold="flush", icache="warm", prime=True, until="", device=0, driver="sim", seed=1, input_sets=1,
        ignored_refusals=False,
    )  # fmt: skip
    evidence = (Evidence("outputs", "held"),)
    sides = [
        ComparedCapture(f"{name}.ncap", "a" * 64, "1", (), settings, True, (), evidence) for name in "ab"
    ]
    pair = ComparedPair(sides[0], sides[1], ())
    return CaptureComparison(
        CAPTURES, "FASTER", "pass", "", ("a.ncap", "b.ncap"), True, True, compared().cases, (pair,), 2.0
    )


def written(path: Path, result: GradeResult | CompareResult | CaptureComparison) -> Path:
    path.write_text(result.to_json())
    return path


def data_of(html: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(Parsed(html).scripts[0])
    return found


def test_grade_page_has_verdict_samples_and_evidence(tmp_path: Path) -> None:
    html = render(result_page(read_result(written(tmp_path / "r.json", graded()))))
    assert (
        "verdict pass" in html and "could not tell" in html and "no clock" in html and "one printed" in html
    )
    [chart] = data_of(html).values()
    assert chart["series"][0]["values"] == [1.0, 2.0, 4.0]  # type: ignore[index]


def test_kernels_have_readable_names() -> None:
    use = KernelEvidence("_Z5saxpyPf", "a" * 64, "libsaxpy.so", (1, 1, 1), (32, 1, 1), 8, 0, 1, 1.0)
    html = render(result_page(msgspec.structs.replace(graded(), kernels=(use,))))
    assert "saxpy(float*)" in html and "_Z5saxpyPf" not in html


def test_comparison_page_has_blocks_of_both_sides(tmp_path: Path) -> None:
    html = render(result_page(read_result(written(tmp_path / "r.json", compared()))))
    assert (
        "B is FASTER" in html and "0.4 to 0.6" in html and "1500 1500 1500 1500" in html and "unknown" in html
    )
    a, b = data_of(html)["blocks-0"]["series"]  # type: ignore[misc]
    assert (a["values"], b["values"]) == ([20.0, 21.0, 20.5, 20.1], [10.0, 10.5, 10.1, 10.2])
    assert "Cases of A" in html and "Cases of B" in html


def test_comparison_of_captures_has_blocks_captures_and_checks(tmp_path: Path) -> None:
    html = render(result_page(read_result(written(tmp_path / "r.json", compared_captures()))))
    for part in (
        "a.ncap (A) and b.ncap (B)",
        "B is FASTER",
        "1500 1500 1500 1500",
        "1 A",
        "1 B",
        "outputs",
        "held",
    ):
        assert part in html


def test_sections_of_a_page_have_different_names() -> None:
    ids = [attrs["id"] for _, attrs in Parsed(render(result_page(compared()))).tags if attrs.get("id")]
    assert len(ids) == len(set(ids))


def test_many_samples_are_thinned_and_the_page_says_so() -> None:
    html = render(result_page(graded(samples=tuple(float(at) for at in range(POINTS_MAX * 3)))))
    values = next(iter(data_of(html).values()))["series"][0]["values"]  # type: ignore[index]
    assert len(values) == POINTS_MAX and (values[0], values[-1]) == (0.0, POINTS_MAX * 3 - 1.0)
    assert "at most 2,000 samples" in html


def test_hostile_case_name_adds_no_element() -> None:
    expected, found = Parsed(render(result_page(graded()))), Parsed(render(result_page(graded(HOSTILE))))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in expected.tags]


def test_result_is_shown_on_the_page_of_a_log(tmp_path: Path) -> None:
    log = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.end()])
    path = written(tmp_path / "r.json", compared())
    words = ["report", str(log), "--html", str(tmp_path / "x.html"), "--result", str(path)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    html = (tmp_path / "x.html").read_text()
    ids = [attrs["id"] for _, attrs in Parsed(html).tags if attrs.get("id")]
    assert {"timeline", "findings", "result-a-cases", "compared-cases"} <= set(ids) and len(ids) == len(
        set(ids)
    )


def test_command_shows_a_result(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", graded())
    run: Result = CliRunner().invoke(cli, ["report", str(path), "--html", str(tmp_path / "x.html")])
    assert run.exit_code == 0 and "verdict pass" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize(
    "content",
    [
        '{"schema": "neutrino-bench/result/1"}',
        '{"schema": "other"}',
        "{}",
        "{",
        '{"schema": 7}',
        "[" * 100_000,
    ],
    ids=range(6),
)
def test_other_document_is_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(UsageError) as raised:
        read_result(tmp_path / "r.json")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("r.json", "--html", "x.html", "--csv", "out"), "only --html shows a result"),
        (("r.json", "--html", "x.html", "--result", "r.json"), "only --html shows a result"),
        (("r.json", "--perfetto", "x.json"), "only --html shows a result"),
        (("log", "--perfetto", "x.json", "--result", "r.json"), "--result is shown on a page"),
    ],
    ids=" ".join,
)
def test_option_without_effect_is_refused(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "r.json", graded())
    logs.write_log(tmp_path / "log", [logs.session(), logs.end()])
    with pytest.raises(SystemExit) as ended:
        main(["report", *words])
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n")) == (2, 1) and message in err
    assert not (tmp_path / "x.html").exists() and not (tmp_path / "x.json").exists()
