"""Rewards are monotone: no result of a lower kind has a higher score, and a failure of the machine has no score."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.cli.rewards import baseline_in
from benchguard.errors import UsageError
from benchguard.grade.result import Verdict
from benchguard.replay.evidence import Evidence
from benchguard.rewards.reward import Baseline, Reward, baseline_of, no_reward, reward_of, time_of
from benchguard.rewards.scale import Scale
from tests.support.results import GPU, graded_result

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
NOT_A_PASS = tuple(each for each in VERDICTS if each not in ("pass", "error"))
SECONDS = st.floats(1e-12, 1e9)
BASELINES = st.none() | SECONDS.map(Baseline)
LEVELS = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    low = sorted(draw(st.tuples(LEVELS, LEVELS, LEVELS)))
    slow = math.nextafter(low[2] + draw(st.floats(0, 1e6)), math.inf)
    return Scale(*low, slow, slow + draw(st.floats(0, 1e6)))


@given(scales(), st.sampled_from(NOT_A_PASS), SECONDS, BASELINES)
def test_slowest_pass_scores_above_every_other_verdict(
    scale: Scale, verdict: Verdict, seconds: float, baseline: Baseline | None
) -> None:
    """Whatever times the other result claims."""
    slow = reward_of(graded_result("pass", (seconds * 1e6,)), baseline, scale).score
    other = reward_of(graded_result(verdict, (1e-6,)), baseline, scale).score
    assert slow is not None and other is not None
    assert other < slow


@given(scales())
def test_cheat_scores_at_most_as_a_failure_and_as_a_wrong_answer(scale: Scale) -> None:
    cheat, failed, wrong = (
        reward_of(graded_result(each), None, scale).score for each in ("violation", "failed", "wrong")
    )
    assert cheat is not None and failed is not None and wrong is not None
    assert cheat <= failed <= wrong


@given(scales(), SECONDS, SECONDS, SECONDS.map(Baseline))
def test_faster_pass_never_scores_below_slower_pass(
    scale: Scale, one: float, other: float, baseline: Baseline
) -> None:
    slow, fast = sorted((one, other), reverse=True)
    scores = [reward_of(graded_result("pass", (each * 1e6,)), baseline, scale).score for each in (slow, fast)]
    assert scores[0] is not None and scores[1] is not None
    assert scale.slow_pass <= scores[0] <= scores[1] <= scale.fast_pass


@given(scales(), BASELINES, st.floats())
def test_failure_of_the_machine_has_no_score(scale: Scale, baseline: Baseline | None, median: float) -> None:
    assert reward_of(graded_result("error", (median,)), baseline, scale).score is None
    assert no_reward("node lost").score is None


@pytest.mark.parametrize("median", [0.0, -1.0, math.inf, math.nan, None])
def test_pass_without_valid_time_has_no_score(median: float | None) -> None:
    """With the honest control: the same result with a time has a score."""
    assert reward_of(graded_result("pass", (5.0, median))).score is None
    assert reward_of(graded_result("pass", (5.0, 5.0))).score == 1.0


def test_pass_as_fast_as_the_baseline_scores_in_the_middle() -> None:
    reward = reward_of(graded_result("pass", (4.0, 9.0)), Baseline(6e-6), Scale(slow_pass=0.5))
    assert reward.time_s == pytest.approx(6e-6)  # the geometric mean of 4 and 9 us
    assert reward.speedup == pytest.approx(1.0)
    assert reward.score == pytest.approx(0.75)


def test_pass_on_another_device_than_the_baseline_has_no_score() -> None:
    baseline = baseline_of(graded_result())
    assert baseline.device == GPU.name
    other = msgspec.structs.replace(GPU, name="Other GPU")
    assert reward_of(graded_result(), baseline).score == pytest.approx(0.55)
    reward = reward_of(graded_result(device=other), baseline)
    assert reward.score is None and reward.speedup is None
    assert "Other GPU" in reward.reason
    assert reward_of(graded_result("wrong", device=other), baseline).score == 0.0


def test_suites_own_score_is_the_time() -> None:
    assert time_of(graded_result(medians=(1.0,), score_s=0.25)) == 0.25
    assert time_of(graded_result(score_s=math.nan)) is None


def test_baseline_of_a_failure_is_refused() -> None:
    with pytest.raises(UsageError, match="a baseline must be a timed pass, but this result is wrong"):
        baseline_of(graded_result("wrong"))
    with pytest.raises(UsageError, match="give a positive number"):
        Baseline(0.0)


@pytest.mark.parametrize("median", [None, 0.0, -1.0])
def test_baseline_file_without_a_positive_time_is_refused_by_name(
    median: float | None, tmp_path: Path
) -> None:
    (tmp_path / "base.json").write_text(graded_result("pass", (median,)).to_json())
    with pytest.raises(
        UsageError,
        match=r"--baseline: .*base\.json: .*the time of this pass is missing or not positive; grade the",
    ):
        baseline_in(tmp_path / "base.json")


def test_baseline_file_of_a_failure_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(graded_result("wrong").to_json())
    with pytest.raises(UsageError, match=r"--baseline: .*base\.json: .*this result is wrong; give the"):
        baseline_in(tmp_path / "base.json")


@pytest.mark.parametrize(
    "levels", [{"violation": 0.1}, {"wrong": 0.1}, {"slow_pass": 2.0}, {"failed": 0.05}, {"wrong": math.nan}]
)
def test_scale_out_of_order_is_refused(levels: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Scale(**levels)


def test_checks_that_held_are_left_out() -> None:
    evidence = (Evidence("host clock", "held"), Evidence("empty samples", "could not tell", "a\nreason"))
    reward = reward_of(graded_result(evidence=evidence))
    assert [(each.case, each.check, each.text) for each in reward.checks] == [
        ("case 0", "empty samples", "a reason")
    ]


def test_document_of_a_reward_can_be_read_again() -> None:
    reward = reward_of(graded_result("wrong", reason="element 3\x1b[2J"), Baseline(1.0))
    data = reward.to_json()
    assert b"\x1b" not in data and b"\n" not in data
    assert msgspec.json.decode(data, type=Reward) == reward
