"""The reward of a graded submission: the document neutrino-bench/reward/1."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Literal

import msgspec

from ..errors import UsageError
from ..grade.result import GradeResult, Trust, Verdict
from ..ipc.json_text import json_line
from ..ipc.text import one_line
from .scale import Scale

Schema = Literal["neutrino-bench/reward/1"]
SCHEMA: Schema = "neutrino-bench/reward/1"
CHECKS_MAX = 64


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check of a case's time that failed or could not tell, with the reason."""

    case: str
    check: str
    state: Literal["failed", "could not tell"]
    text: str


class Reward(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reward of a submission.

    Attributes:
        score: the score. None: there is no reward, because the machine failed and not the submission. Leave such a
            sample out; never count it as 0.
        verdict: the verdict of the grade.
        reason: why the verdict is not a pass, or why a pass has no score.
        trust: "replayed" or "inline"; None without a result. Never compare rewards of different trust.
        time_s: the time of a pass in seconds: the score of the suite's leaderboard if it has one, else the geometric
            mean of the cases' medians.
        speedup: baseline over time; None without a baseline.
        device: the device that timed the submission; empty if it was not timed.
        checks: the checks of the time that failed or could not tell.
    """

    schema: Schema
    score: float | None
    verdict: Verdict
    reason: str
    trust: Trust | None = None
    time_s: float | None = None
    speedup: float | None = None
    device: str = ""
    checks: tuple[Check, ...] = ()

    def to_json(self) -> bytes:
        """One line of JSON."""
        return json_line(self)


@dataclass(frozen=True)
class Baseline:
    """A time to compare passes with.

    Attributes:
        seconds: the time in seconds.
        device: name of the device that it was measured on. Empty: any. A pass on another device has no score.

    Raises:
        UsageError: the time is not a positive number.
    """

    seconds: float
    device: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise UsageError(f"the baseline is {self.seconds} s; give a positive number")


def baseline_of(result: GradeResult) -> Baseline:
    """The time of a passed submission as a baseline. Raises UsageError for other results."""
    time_s = time_of(result)
    if result.verdict != "pass":
        raise UsageError(
            f"a baseline must be a timed pass, but this result is {result.verdict}; give the result of a pass"
        )
    if time_s is None:
        raise UsageError(
            "a baseline must be a timed pass, but the time of this pass is missing or not positive; grade the "
            "submission again"
        )
    return Baseline(time_s, result.device.name if result.device is not None else "")


def reward_of(result: GradeResult, baseline: Baseline | None = None, scale: Scale = Scale()) -> Reward:  # noqa: B008 - frozen
    """The reward of a result.

    Args:
        result: the result of a grade.
        baseline: the time that gives the middle of the scale. None: every pass scores the same.
        scale: the scores of verdicts.

    Returns:
        The reward. Its score is None if the machine failed, if a pass has no valid time, or if the pass was timed on
        another device than the baseline.
    """
    device = result.device.name if result.device is not None else ""
    time_s = time_of(result) if result.verdict == "pass" else None
    seconds = baseline.seconds if baseline is not None else None
    score, reason = scale.score(result.verdict, time_s, seconds), result.reason
    if result.verdict == "pass" and score is None:
        reason = "the result is a pass without a valid time; grade again"
    elif result.verdict == "pass" and baseline is not None and baseline.device not in ("", device):
        score = None
        reason = f"timed on {device or 'an unknown device'}, but the baseline is of {baseline.device}"
    speedup = seconds / time_s if seconds and time_s and score is not None else None
    return Reward(
        SCHEMA,
        score,
        result.verdict,
        one_line(reason),
        result.trust,
        time_s,
        speedup,
        device,
        checks_of(result),
    )


def no_reward(reason: str) -> Reward:
    """The reward of a submission that could not be graded: no score."""
    return Reward(SCHEMA, None, "error", one_line(reason))


def reward_without_code(reason: str, scale: Scale = Scale()) -> Reward:  # noqa: B008 - frozen
    """The reward of a response that holds no submission: that of a submission that failed."""
    return Reward(SCHEMA, scale.failed, "failed", one_line(reason))


def time_of(result: GradeResult) -> float | None:
    """The time of a result in seconds; None if a case has no time, or a time that is not a positive number."""
    if result.score_s is not None:
        return result.score_s if _is_time(result.score_s) else None
    medians = [case.time_us.median if case.time_us is not None else math.nan for case in result.cases]
    if not medians or not all(map(_is_time, medians)):
        return None
    return statistics.geometric_mean(medians) / 1e6


def checks_of(result: GradeResult) -> tuple[Check, ...]:
    found = [
        Check(case.name, each.check, each.state, one_line(each.text))
        for case in result.cases
        for each in case.evidence
        if each.state != "held"
    ]
    return tuple(found[:CHECKS_MAX])


def _is_time(value: float) -> bool:
    return math.isfinite(value) and value > 0
