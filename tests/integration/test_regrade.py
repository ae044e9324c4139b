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

import msgspec
import pytest

from benchguard import exit_status
from benchguard.archive import BundleError, open_bundle
from benchguard.errors import BenchguardError, UsageError
from benchguard.grade.grade import grade_into
from benchguard.grade.options import GradeOptions
from benchguard.grade.regrade import regrade
from benchguard.grade.regrade_result import RegradeResult, compared
from benchguard.grade.result import GradeResult
from benchguard.judge.ceilings import ceilings_of
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


@pytest.fixture(scope="module")
def confirmed(graded: dict[str, Path]) -> tuple[GradeResult, RegradeResult]:
    """The stored result of the honest bundle, and its regrade."""
    bundle = open_bundle(graded["honest"])
    stored = msgspec.json.decode(bundle.read(bundle.manifest.result), type=GradeResult)
    return stored, regrade(graded["honest"], PROBLEM, OPTIONS)


def compared_with_forged(
    confirmed: tuple[GradeResult, RegradeResult], change: Callable[[Any], None], within: float | None = None
) -> RegradeResult:
    """The conclusion of the regrade, had the stored result been changed."""
    stored, found = confirmed
    document = json.loads(stored.to_json())
    change(document)
    changed = msgspec.json.decode(json.dumps(document), type=GradeResult)
    return compared("bundle", changed, found.result, ({}, {}), within)


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


def test_honest_bundle_is_confirmed(confirmed: tuple[GradeResult, RegradeResult]) -> None:
    _, found = confirmed
    assert compared_with_forged(confirmed, lambda _: None).confirmed
    assert (found.confirmed, found.stored, found.verdict, found.status) == (True, "pass", "pass", 0)
    assert found.cases[0].ratio is not None and not found.times_compared
    assert not found.differences and found.result.cases[0].checks is not None


@pytest.fixture(scope="module")
def of_processes(graded: dict[str, Path]) -> tuple[GradeResult, RegradeResult]:
    """As `confirmed`, of a grade with samples in three processes, as on a GPU.

    By chance, the few samples on one-use inputs make the time: no process has enough then, so it is graded again.
    """
    folder = graded["honest"].parents[1]
    options = replace(OPTIONS, samples=60, placements=3)
    for _ in range(12):
        done = grade_into(folder, PROBLEM, folder.parent / "honest.ptx", options)
        if done.result.cases[0].placements is not None:
            break
    found = regrade(folder / "bundles" / f"{done.bundle}.json", PROBLEM, options)
    return done.result, found


def test_honest_bundle_of_several_processes_is_confirmed(
    of_processes: tuple[GradeResult, RegradeResult],
) -> None:
    """The time is the geometric mean of the processes' medians, not the median of all samples."""
    stored, found = of_processes
    placements = stored.cases[0].placements
    assert placements is not None and len(placements.medians_us) == 3
    assert (found.confirmed, found.reason) == (True, "")


def faster_processes(result: Any) -> None:
    """The time of processes that are faster than each sample."""
    case = result["cases"][0]
    factor = min(case["scored_samples"] or case["samples"]) / 2 / min(case["placements"]["medians_us"])
    case["placements"]["medians_us"] = [each * factor for each in case["placements"]["medians_us"]]
    case["time_us"]["median"] *= factor
    case["time_us"]["ci95"] = [each * factor for each in case["time_us"]["ci95"]]


def more_processes_than_samples(result: Any) -> None:
    case = result["cases"][0]
    least = min(case["scored_samples"] or case["samples"])
    case["placements"].update(medians_us=[least] * 60, spread=0.0)
    case["time_us"].update(median=least, ci95=[least, least])


def forged_spread(result: Any) -> None:
    result["cases"][0]["placements"]["spread"] = 0.0


@pytest.mark.parametrize("change", [faster_processes, more_processes_than_samples, forged_spread])
def test_forged_medians_of_processes_are_not_confirmed(
    of_processes: tuple[GradeResult, RegradeResult], change: Callable[[Any], None]
) -> None:
    found = compared_with_forged(of_processes, change)
    assert not found.confirmed and "times do not follow from the samples" in found.reason


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
    assert not found.confirmed and "times do not follow from the samples" in found.reason


@pytest.mark.parametrize("median", [0.0, -1.0])
def test_forged_time_that_has_no_ratio_is_not_confirmed(
    graded: dict[str, Path], archive: Path, median: float
) -> None:
    def change(_: Any, result: Any) -> None:
        result["cases"][0]["time_us"]["median"] = median

    found = regrade(forged(archive, graded["honest"].name, change), PROBLEM, OPTIONS)
    assert not found.confirmed and found.cases[0].ratio is None


def forged_mean(result: Any) -> None:
    result["cases"][0]["scored_samples"] = [1e-6, 1e-6]


def forged_least(result: Any) -> None:
    result["cases"][0]["time_us"]["min"] /= 1e9


def forged_rate(result: Any) -> None:
    result["cases"][0]["gbytes_per_s"] *= 1e9


def forged_score(result: Any) -> None:
    result["score_s"] = 1e-9


def no_case(result: Any) -> None:
    result["cases"] = result["kernels"] = []


def forged_median(result: Any) -> None:
    """By little, so that times do not tell."""
    result["cases"][0]["time_us"]["median"] *= 0.99


def forged_interval(result: Any) -> None:
    result["cases"][0]["time_us"]["ci95"] = [1e-3, 2e-3]


def forged_count(result: Any) -> None:
    result["cases"][0]["time_us"]["n"] = 10_000


def huge_samples(result: Any) -> None:
    result["cases"][0]["samples"] = result["cases"][0]["scored_samples"] = [1.7e308] * 9


def no_samples(result: Any) -> None:
    result["cases"][0]["samples"] = result["cases"][0]["scored_samples"] = []


def forged_rate_slightly(result: Any) -> None:
    result["cases"][0]["gflops"] *= 1.01


def forged_share(result: Any) -> None:
    result["cases"][0]["share_of_memory"] = 99.0


def forged_hash(result: Any) -> None:
    for kernels in (result["kernels"], result["cases"][0]["kernels"]):
        kernels[0]["image_sha256"] = "0" * 64


def forged_launches(result: Any) -> None:
    result["kernels"][0]["launches"] = 7


def forged_problem(result: Any) -> None:
    result["problem"] = "another\x1b[2J"


def forged_parameters(result: Any) -> None:
    result["cases"][0]["params"] = {"n": "4194304"}


def forged_case_verdict(result: Any) -> None:
    result["cases"][0]["verdict"] = "wrong"


def score_without_a_logarithm(result: Any) -> None:
    result["score_s"] = 1e-9
    result["cases"][0].update(name="benchmark.0", samples=[0.0], scored_samples=[])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (forged_mean, "times do not follow from the samples"),
        (forged_least, "times do not follow from the samples"),
        (forged_median, "times do not follow from the samples"),
        (forged_interval, "times do not follow from the samples"),
        (forged_count, "times do not follow from the samples"),
        (huge_samples, "times do not follow from the samples"),
        (no_samples, "times do not follow from the samples"),
        (forged_rate, "gbytes_per_s does not follow from the median"),
        (forged_rate_slightly, "gflops does not follow from the median"),
        (forged_share, "shares of the device's ceilings do not follow from the rates"),
        (forged_score, "the stored score does not follow"),
        (score_without_a_logarithm, "the stored score does not follow"),
        (forged_hash, "kernels are not those of the captures"),
        (forged_launches, "the stored kernels are not those of the cases"),
        (forged_problem, "about the problem another\\x1b[2J"),
        (forged_parameters, "parameters are not the problem's"),
        (forged_case_verdict, "its cases make it wrong"),
    ],
)
def test_forged_fact_is_not_confirmed_on_any_machine(
    confirmed: tuple[GradeResult, RegradeResult], change: Callable[[Any], None], said: str
) -> None:
    """Where times cannot be compared, too: each fact contradicts others of the result, or its captures."""
    found = compared_with_forged(confirmed, change)
    assert not found.times_compared
    assert not found.confirmed and said in found.reason


def test_true_shares_of_another_device_are_confirmed(confirmed: tuple[GradeResult, RegradeResult]) -> None:
    """The honest control: a bundle of an H200."""

    def of_an_h200(result: Any) -> None:
        result["device"]["name"] = "NVIDIA H200"
        for case in result["cases"]:
            case["share_of_compute"] = case["gflops"] * 1e9 / ceilings.tensor
            case["share_of_memory"] = case["gbytes_per_s"] * 1e9 / ceilings.copy

    ceilings = ceilings_of("NVIDIA H200")
    assert ceilings is not None
    assert compared_with_forged(confirmed, of_an_h200).confirmed


def forged_consistently(result: Any) -> None:
    """A time of a billionth, with samples and rates that fit."""
    case = result["cases"][0]
    case["samples"] = [each / 1e9 for each in case["samples"]]
    case["scored_samples"] = [each / 1e9 for each in case["scored_samples"]]
    block = case["time_us"]
    block["ci95"] = [each / 1e9 for each in block["ci95"]] if block["ci95"] else None
    block.update({name: value / 1e9 for name, value in block.items() if isinstance(value, float)})
    case.update(gflops=case["gflops"] * 1e9, gbytes_per_s=case["gbytes_per_s"] * 1e9)


@pytest.mark.parametrize(
    ("change", "said"),
    [(forged_consistently, "the stored median is"), (no_case, "the stored result has none")],
)
def test_forged_times_and_cases_are_not_confirmed(
    confirmed: tuple[GradeResult, RegradeResult], change: Callable[[Any], None], said: str
) -> None:
    found = compared_with_forged(confirmed, change, LOADED_MACHINE)
    assert not found.confirmed and said in found.reason


def test_forged_state_of_a_check_is_listed(confirmed: tuple[GradeResult, RegradeResult]) -> None:
    def change(result: Any) -> None:
        for each in result["cases"][0]["evidence"]:
            each.update(state="held", text="")

    found = compared_with_forged(confirmed, change)
    shown = {each.what: (each.stored, each.now) for each in found.differences}
    assert shown["case small: check of empty samples"] == ("held", "could not tell")


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


def median_twice(result: bytes) -> bytes:
    """The honest median comes last."""
    assert result.count(b'"time_us": {') == 1
    return result.replace(b'"time_us": {', b'"time_us": {"median": 1e-3,')


@pytest.mark.parametrize("as_bundle", [True, False])
def test_result_with_two_medians_is_refused(graded: dict[str, Path], archive: Path, as_bundle: bool) -> None:
    """Readers that take the first value of a name would take the forged one for confirmed."""
    document = json.loads(graded["honest"].read_bytes())
    digest = document["result"][0]
    result = median_twice((archive / "parts" / digest[:2] / digest).read_bytes())
    assert json.loads(result)["cases"][0]["time_us"]["median"] > 1e-3
    if not as_bundle:
        (archive / "result.json").write_bytes(result)
        with pytest.raises(UsageError, match="the name 'median' twice"):
            regrade(archive / "result.json", PROBLEM, OPTIONS, archive=archive)
        return
    document["result"] = stored(archive, result)
    data = json.dumps(document).encode()
    path = archive / "bundles" / f"{hashlib.sha256(data).hexdigest()}.json"
    path.write_bytes(data)
    with pytest.raises(BundleError, match="the name 'median' twice"):
        regrade(path, PROBLEM, OPTIONS)


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
