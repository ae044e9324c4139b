"""Regrades on the CPU driver: an honest bundle is confirmed, and each changed one is refused or not confirmed."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchguard import exit_status
from benchguard.archive import BundleError
from benchguard.errors import BenchguardError, UsageError
from benchguard.grade.grade import grade_into
from benchguard.grade.options import GradeOptions
from benchguard.grade.regrade import regrade
from tests.conftest import ROOT
from tests.support.mixed import PROBLEM

SUBMISSIONS = ROOT / "examples" / "problems" / "submissions" / "vector_add"
OPTIONS = GradeOptions(driver="sim", samples=5)
LOADED_MACHINE = 1e4
"""A ratio of times that no load of the machine reaches. Forged numbers differ by more."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, native: Path) -> dict[str, Path]:
    """The bundles of an honest kernel, of one with wrong results, and of one that does not load."""
    assert (native / "sim").is_dir()
    folder = tmp_path_factory.mktemp("graded")
    honest = (SUBMISSIONS / "kernel.ptx").read_text()
    sources = {"honest": honest, "wrong": honest.replace("add.f32", "sub.f32"), "broken": "no code"}
    assert sources["wrong"] != honest
    bundles = {}
    for name, source in sources.items():
        (folder / f"{name}.ptx").write_text(source)
        done = grade_into(folder / "archive", PROBLEM, folder / f"{name}.ptx", OPTIONS)
        assert not done.trouble
        bundles[name] = folder / "archive" / "bundles" / f"{done.bundle}.json"
    return bundles


@pytest.fixture
def archive(graded: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(graded["honest"].parents[1], tmp_path / "archive")
    return tmp_path / "archive"


def stored(archive: Path, data: bytes) -> list[Any]:
    """Store a part as a forger does, and return it as a manifest has it."""
    digest = hashlib.sha256(data).hexdigest()
    path = archive / "parts" / digest[:2] / digest
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return [digest, len(data)]


def forged(archive: Path, name: str, change: Callable[[Any, Any], None]) -> Path:
    """The bundle with another result or manifest, and with hashes that fit."""
    document = json.loads((archive / "bundles" / name).read_bytes())
    digest = document["result"][0]
    result = json.loads((archive / "parts" / digest[:2] / digest).read_bytes())
    change(document, result)
    document["result"] = stored(archive, json.dumps(result).encode())
    data = json.dumps(document).encode()
    path = archive / "bundles" / f"{hashlib.sha256(data).hexdigest()}.json"
    path.write_bytes(data)
    return path


def test_honest_bundle_is_confirmed(graded: dict[str, Path]) -> None:
    found = regrade(graded["honest"], PROBLEM, OPTIONS)
    assert (found.confirmed, found.stored, found.verdict, found.status) == (True, "pass", "pass", 0)
    assert found.cases[0].ratio is not None and not found.times_compared
    assert not found.differences and found.result.cases[0].checks is not None


def test_stored_wrong_answer_is_confirmed_as_wrong(graded: dict[str, Path]) -> None:
    found = regrade(graded["wrong"], PROBLEM, OPTIONS)
    assert (found.confirmed, found.stored, found.verdict) == (True, "wrong", "wrong")


def test_bundle_without_captures_cannot_be_regraded(graded: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="grade its source again"):
        regrade(graded["broken"], PROBLEM, OPTIONS)


def test_bundle_of_another_problem_is_refused(graded: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="another problem"):
        regrade(graded["honest"], PROBLEM.with_name("softmax.py"), OPTIONS)


def test_forged_verdict_is_not_confirmed(graded: dict[str, Path], archive: Path) -> None:
    """A wrong answer whose result was edited to a pass, with hashes that fit."""

    def change(_: Any, result: Any) -> None:
        result.update(verdict="pass", reason="")
        result["cases"][0].update(verdict="pass", reason="")

    found = regrade(forged(archive, graded["wrong"].name, change), PROBLEM, OPTIONS)
    assert (found.confirmed, found.status) == (False, 1)
    assert "the stored verdict is pass, and the regrade's is wrong" in found.reason


def test_forged_time_is_not_confirmed(graded: dict[str, Path], archive: Path) -> None:
    """A time of a billionth of the honest one, in an interval that contains every time."""

    def change(_: Any, result: Any) -> None:
        block = result["cases"][0]["time_us"]
        block.update(median=block["median"] / 1e9, ci95=[1e-12, 1e12])

    found = regrade(forged(archive, graded["honest"].name, change), PROBLEM, OPTIONS, within=LOADED_MACHINE)
    assert not found.confirmed and "the stored median is" in found.reason


@pytest.mark.parametrize("median", [0.0, -1.0])
def test_forged_time_that_has_no_ratio_is_not_confirmed(
    graded: dict[str, Path], archive: Path, median: float
) -> None:
    def change(_: Any, result: Any) -> None:
        result["cases"][0]["time_us"]["median"] = median

    found = regrade(forged(archive, graded["honest"].name, change), PROBLEM, OPTIONS)
    assert not found.confirmed and "which no call takes" in found.reason


def forged_mean(result: Any) -> None:
    result["cases"][0]["scored_samples"] = [1e-6, 1e-6]


def forged_least(result: Any) -> None:
    result["cases"][0]["time_us"]["min"] /= 1e9


def forged_rate(result: Any) -> None:
    result["cases"][0]["gbytes_per_s"] *= 1e9


def forged_score(result: Any) -> None:
    result["score_s"] = 1e-9


def no_case(result: Any) -> None:
    result["cases"] = []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (forged_mean, "mean of the samples that count: 1e-06 is stored"),
        (forged_least, "least time: "),
        (forged_rate, "GB/s: "),
        (forged_score, "the score: only one"),
        (no_case, "the stored result has none"),
    ],
)
def test_forged_number_that_ranks_is_not_confirmed(
    graded: dict[str, Path], archive: Path, change: Callable[[Any], None], said: str
) -> None:
    bundle = forged(archive, graded["honest"].name, lambda _, result: change(result))
    found = regrade(bundle, PROBLEM, OPTIONS, within=LOADED_MACHINE)
    assert not found.confirmed and said in found.reason


def other_result(_: Any, result: Any) -> None:
    result["cases"][0]["capture"] = "0" * 64


def case_twice(_: Any, result: Any) -> None:
    """The honest time comes last, and a reader takes the first."""
    false = json.loads(json.dumps(result["cases"][0]))
    false["time_us"]["median"] /= 1e9
    result["cases"].insert(0, false)


def other_source(document: Any, _: Any) -> None:
    document["submission"]["files"] = {document["submission"]["name"]: document["result"]}


def hidden_case(document: Any, _: Any) -> None:
    document["cases"] = [{**document["cases"][0], "name": "another"}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_result, "another capture"),
        (case_twice, "twice"),
        (other_source, "another submission"),
        (hidden_case, "no capture"),
    ],
)
def test_forged_bundle_with_fitting_hashes_is_refused(
    graded: dict[str, Path], archive: Path, change: Callable[[Any, Any], None], said: str
) -> None:
    with pytest.raises(BundleError, match=said) as refused:
        regrade(forged(archive, graded["honest"].name, change), PROBLEM, OPTIONS)
    assert "\n" not in str(refused.value)


def test_capture_of_another_submission_is_refused(graded: dict[str, Path], archive: Path) -> None:
    """The wrong kernel's result as a pass, with the honest kernel's captures."""
    honest = json.loads(graded["honest"].read_bytes())

    def change(document: Any, result: Any) -> None:
        document["cases"] = honest["cases"]
        result.update(verdict="pass", reason="")

    with pytest.raises(BundleError, match="another capture"):
        regrade(forged(archive, graded["wrong"].name, change), PROBLEM, OPTIONS)


def test_capture_of_random_bytes_is_refused(graded: dict[str, Path], archive: Path) -> None:
    def change(document: Any, _: Any) -> None:
        document["cases"][0]["captures"] = [[stored(archive, bytes(range(256)) * 100)]] * 2

    with pytest.raises(BundleError, match="a capture cannot be used"):
        regrade(forged(archive, graded["honest"].name, change), PROBLEM, OPTIONS)


def test_bundle_of_many_small_captures_is_not_read_beyond_the_time_limit(
    graded: dict[str, Path], archive: Path
) -> None:
    """Each capture takes a process that validates it."""

    def change(document: Any, _: Any) -> None:
        first = document["cases"][0]
        document["cases"] += [{**first, "name": f"copy {number}"} for number in range(5000)]

    path = forged(archive, graded["honest"].name, change)
    began = time.monotonic()
    with pytest.raises(BenchguardError, match="not read before the time-out") as late:
        regrade(path, PROBLEM, replace(OPTIONS, timeout=2.0))
    assert late.value.status == exit_status.TIMEOUT
    assert time.monotonic() - began < 60


def test_option_about_a_run_is_refused(graded: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="warm-up has no effect on a regrade"):
        regrade(graded["honest"], PROBLEM, OPTIONS, warm_up=5)
