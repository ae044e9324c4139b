"""Verdicts and times as numbers for a trainer."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ..errors import UsageError
from ..grade.result import Verdict

_LEVELS: dict[Verdict, str] = {
    "violation": "violation",
    "failed": "failed",
    "timeout": "failed",
    "unreplayable": "failed",
    "wrong": "wrong",
    "unconverged": "wrong",
    "unproven": "wrong",
}
"""The level of each verdict but `pass` and `error`. Right outputs without a proven time are worth no more than wrong
outputs: a submission can make its own time uncertain."""


@dataclass(frozen=True)
class Scale:
    """The scores of verdicts. A pass scores from `slow_pass` to `fast_pass`, by its speed.

    Attributes:
        violation: score of a submission that broke a rule.
        failed: score of a submission that failed to compile or run, ran into its time limit, or cannot be replayed.
        wrong: score of wrong outputs, and of outputs whose time is not certain.
        slow_pass: limit of a pass's score as its time grows.
        fast_pass: limit of a pass's score as its time goes to 0, and the score of a pass without a baseline.

    Raises:
        UsageError: a score is not finite, or the order violation <= failed <= wrong < slow_pass <= fast_pass does
            not hold.
    """

    violation: float = 0.0
    failed: float = 0.0
    wrong: float = 0.0
    slow_pass: float = 0.1
    fast_pass: float = 1.0

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in values.items():
            if not math.isfinite(value):
                raise UsageError(f"the score of {name} is {value}; give a finite number")
        order = list(values.values())
        if order != sorted(order) or self.wrong >= self.slow_pass:
            raise UsageError(
                "scores must be in the order violation <= failed <= wrong < slow-pass <= fast-pass; got "
                + ", ".join(f"{name} {value:g}" for name, value in values.items())
            )

    def score(self, verdict: Verdict, time_s: float | None, baseline_s: float | None) -> float | None:
        """The score of a verdict.

        Args:
            verdict: the verdict of a grade.
            time_s: the submission's time in seconds; used for a pass.
            baseline_s: the time in seconds that gives the middle of the scale; None: every pass scores `fast_pass`.

        Returns:
            None if there is no score: for the verdict `error`, and for a pass whose time is not a positive number.
        """
        if verdict == "error":
            return None
        if verdict != "pass":
            return float(getattr(self, _LEVELS[verdict]))
        if time_s is None or not (math.isfinite(time_s) and time_s > 0):
            return None
        if baseline_s is None:
            return self.fast_pass
        share = baseline_s / (baseline_s + time_s)
        return min(self.slow_pass + (self.fast_pass - self.slow_pass) * share, self.fast_pass)
