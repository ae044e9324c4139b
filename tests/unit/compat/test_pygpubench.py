"""pygpubench's functions: what they take and what they give."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchguard as pygpubench
from benchguard.compat import isolated
from benchguard.compat.isolated import BenchmarkError, do_bench_isolated, result_of
from benchguard.compat.locate import file_of, generator_spec
from benchguard.compat.statistics import NOT_RUN, BenchmarkResult, basic_stats
from benchguard.errors import UsageError
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from tests.unit.compat.made import made_result, timed_case


def generate_test_case(**arguments: int) -> None:
    raise AssertionError(f"it runs in the judge alone, with {arguments}")


def test_pygpubench_names_are_exported() -> None:
    parameters = inspect.signature(pygpubench.do_bench_isolated).parameters
    assert list(parameters)[:11] == [
        "qualname", "test_generator", "test_args", "repeats", "seed", "discard", "nvtx", "timeout", "landlock",
        "mseal", "allow_root",
    ]  # fmt: skip
    assert all(parameters[name].kind == inspect.Parameter.KEYWORD_ONLY for name in list(parameters)[5:])
    for name in ("basic_stats", "BenchmarkResult", "BenchmarkStats", "DeterministicContext"):
        assert name in pygpubench.__all__ and getattr(pygpubench, name).__name__ == name


def test_basic_stats_equal_pygpubenchs() -> None:
    stats = basic_stats([4.0, 2.0, -1, 8.0, 6.0, -1])
    assert (stats.runs, stats.expected, stats.best, stats.worst) == (4, 6, 2.0, 8.0)
    assert (stats.median, stats.mean) == (6.0, 5.0), "of four the upper median"
    assert (stats.std, stats.err) == (pytest.approx(2.581988897), pytest.approx(1.290994449))
    assert str(stats) == "⚠️ 5.0 ± 2.58 µs [2.0 - 6.0 - 8.0]"
    assert str(basic_stats([1.0, 1.0])) == "1.0 ± 0.00 µs [1.0 - 1.0 - 1.0]"
    with pytest.raises(UsageError, match="need at least two"):
        basic_stats([1.0, -1])


def test_passed_grade_has_times_and_success() -> None:
    result = result_of(made_result(timed_case("c", 3.0, 4.0)), 2)
    assert (result.time_us, result.errors, result.full, result.success) == ([3.0, 4.0], 0, True, True)
    assert result.event_overhead_us == 1.25
    assert result.grade is not None and result.grade.verdict == "pass"


def test_missing_repeats_are_minus_one_and_not_full() -> None:
    result = result_of(made_result(timed_case("c", 3.0, 4.0)), 4)
    assert (result.time_us, result.full, result.success) == ([3.0, 4.0, -1, -1], False, False)


def test_samples_that_do_not_count_have_the_median_of_the_others() -> None:
    result = result_of(
        made_result(timed_case("c", 1.0, 1.0, 9.0, 7.0, 8.0, scored_samples=(9.0, 7.0, 8.0))), 5
    )
    assert (result.time_us, result.success) == ([9.0, 7.0, 8.0, 8.0, 8.0], True)


def test_wrong_grade_counts_errors() -> None:
    result = result_of(made_result(timed_case("c", 3.0, 4.0, wrong=2)), 2)
    assert (result.errors, result.full, result.success) == (2, True, False)


@pytest.mark.parametrize(
    "verdict", ["failed", "error", "timeout", "violation", "unreplayable", "unconverged"]
)
def test_grade_without_times_raises_benchmark_error(verdict: Any) -> None:
    """As RuntimeError, which users of pygpubench catch."""
    with pytest.raises(RuntimeError, match=f"{verdict}: because") as excinfo:
        result_of(made_result(verdict=verdict, reason="because"), 2)
    assert isinstance(excinfo.value, BenchmarkError) and excinfo.value.grade.verdict == verdict


def test_submission_is_graded_without_import_or_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The submission is found by name and not imported; pygpubench's seed does not reach the judge."""
    package = tmp_path / "team" / "kernels"
    package.mkdir(parents=True)
    (package / "fast.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    request: list[tuple[str, Path, GradeOptions]] = []

    def grade(problem: str, submission: Path, options: GradeOptions) -> GradeResult:
        request.append((problem, submission, options))
        return made_result(timed_case("c", *[3.0] * 100))

    monkeypatch.setattr(isolated, "grade", grade)
    result = do_bench_isolated(
        "team.kernels.fast.kernel", generate_test_case, {"size": 8}, 100, 5, timeout=60, landlock=False
    )
    assert result.success
    ((problem, submission, options),) = request
    assert (problem, submission) == (f"{Path(__file__).resolve()}:generate_test_case", package / "fast.py")
    assert (options.adapter, options.adapter_options) == ("pygpubench", {"arguments": '{"size": 8}'})
    assert (options.entry, options.samples, options.timeout) == ("kernel", 100, 60)
    assert options.seed is None and not options.inline
    assert "team" not in sys.modules


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"qualname": "kernel"}, "MODULE.FUNCTION"),
        ({"qualname": "nowhere.kernel"}, "module nowhere is not on sys.path"),
        ({"qualname": "../../x.kernel"}, "MODULE.FUNCTION"),
        ({"repeats": 1}, "at least 2"),
        ({"test_args": {"size": object()}}, "are not JSON"),
        ({"test_generator": lambda **_: None}, "top-level function"),
        ({"test_generator": eval("lambda **_: None")}, "top-level function"),
    ],
)
def test_invalid_argument_is_usage_error(changed: dict[str, Any], words: str) -> None:
    inputs: dict[str, Any] = {
        "qualname": "tests.unit.compat.made.made_case",
        "test_generator": generate_test_case,
        "test_args": {},
        "repeats": 2,
        "seed": 1,
    }
    with pytest.raises(UsageError, match=words):
        do_bench_isolated(**{**inputs, **changed})


def test_file_of_finds_modules_and_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert file_of("package.kernel") == (tmp_path / "package" / "__init__.py", "kernel")


def test_generator_spec_keeps_strings() -> None:
    assert generator_spec("somewhere.make") == "somewhere.make"


def test_generator_spec_names_file_and_function() -> None:
    inner: Callable[..., Any] = generate_test_case
    assert generator_spec(inner).endswith("test_pygpubench.py:generate_test_case")


def test_do_bench_impl_writes_pygpubenchs_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[object, ...]] = []

    def bench(*given: object, **options: object) -> BenchmarkResult:
        seen.append((*given, options))
        return BenchmarkResult(1.25, [3.0, 4.5, NOT_RUN], 0)

    monkeypatch.setattr(isolated, "do_bench_isolated", bench)
    out = tmp_path / "out"
    isolated.do_bench_impl(out, "s.kernel", "g.make", {"size": 4}, 3, 5, driver="sim")
    assert seen == [("s.kernel", "g.make", {"size": 4}, 3, 5, {"inline": True, "driver": "sim"})]
    assert out.read_text() == "event-overhead\t1.25 us\n0\t3.0\n1\t4.5\n"


@pytest.mark.parametrize("is_raw", [True, False], ids=["descriptor", "connection"])
def test_do_bench_impl_writes_to_an_open_pipe(monkeypatch: pytest.MonkeyPatch, is_raw: bool) -> None:
    """pygpubench's newest form gives a connection; its reader takes any `error-count` as a failure."""
    result = BenchmarkResult(None, [3.0, 4.5], 2, True)
    monkeypatch.setattr(isolated, "do_bench_isolated", lambda *_, **__: result)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    isolated.do_bench_impl(theirs.fileno() if is_raw else theirs, "s.kernel", "g.make", {}, 2)
    assert os.read(ours.fileno(), 1000) == b"0\t3.0\n1\t4.5\nerror-count\t2\n"
    theirs.close()  # it was left open
    assert os.read(ours.fileno(), 1000) == b""


def test_do_bench_impl_refuses_what_another_process_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give its name"):
        isolated.do_bench_impl(tmp_path / "out", print, "g.make", {}, 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="stream of this process"):
        isolated.do_bench_impl(tmp_path / "out", "s.kernel", "g.make", {}, 3, stream=7)
