"""Faster and slower are said only where they are sure, by simulated replays of known speed."""

from __future__ import annotations

import random

import pytest

from benchguard.errors import UsageError
from benchguard.grade.comparison import Block, compare_blocks, in_blocks, overall
from tests.support.comparisons import call_of


def blocks(ratio: float, noise: float, count: int = 6, seed: int = 1, drift: float = 0.0) -> list[Block]:
    """Replays of A in 100 us and of B in `ratio` of it; the machine gets slower by `drift` a replay."""
    draw = random.Random(seed)
    results = []
    for number in range(count):
        times = []
        for place, mean in enumerate((100.0, 100 * ratio, 100 * ratio, 100.0)):
            times.append(mean * (1 + drift) ** (4 * number + place) * draw.lognormvariate(0, noise))
        results.append(Block(*times))
    return results


@pytest.mark.parametrize(
    ("ratio", "call"), [(0.95, "FASTER"), (1.05, "SLOWER"), (1.0, "SAME"), (1.004, "SAME"), (0.997, "SAME")]
)
def test_call_is_right_with_small_noise(ratio: float, call: str) -> None:
    result = compare_blocks(blocks(ratio, 0.0005))
    assert result.call == call
    assert result.low <= ratio <= result.high


def test_drift_cancels_within_blocks() -> None:
    """A machine that gets slower by 1 % a replay makes neither of them slower."""
    result = compare_blocks(blocks(1.0, 0.0002, drift=0.01))
    assert abs(result.ratio - 1) < 0.001


def test_difference_below_noise_is_unsure() -> None:
    assert compare_blocks(blocks(1.01, 0.03, seed=3)).call == "UNSURE"


def test_equal_submissions_differ_in_at_most_five_percent() -> None:
    """By a t interval of 95 %, with the margin on top; noise as a reduction of 12 us has it on an H200."""
    calls = [compare_blocks(blocks(1.0, 0.013, seed=seed)).call for seed in range(400)]
    assert sum(call in ("FASTER", "SLOWER") for call in calls) <= 20


def test_interval_of_an_early_end_is_wider_and_holds_the_other() -> None:
    early, last = compare_blocks(blocks(1.0, 0.002), early=True), compare_blocks(blocks(1.0, 0.002))
    assert early.low < last.low < 1 < last.high < early.high


def test_equal_submissions_differ_in_at_most_five_percent_of_comparisons_that_may_end_early() -> None:
    calls = [early_call(0.013, seed) for seed in range(400)]
    assert sum(call in ("FASTER", "SLOWER") for call in calls) <= 20


def test_equal_submissions_of_steady_times_are_the_same_in_99_of_100() -> None:
    calls = [early_call(0.005, seed) for seed in range(400)]
    assert sum(call == "SAME" for call in calls) >= 396


def early_call(noise: float, seed: int) -> str:
    """The call of a comparison of equal submissions, with 20 blocks at most."""
    return call_of(blocks(1.0, noise, count=20, seed=seed))


def test_numbers_come_in_the_order_of_the_replays() -> None:
    assert in_blocks([1, 4, 5, 8], [2, 3, 6, 7]) == (Block(1, 2, 3, 4), Block(5, 6, 7, 8))


def test_too_few_blocks_or_zero_times_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="2 blocks are too few"):
        compare_blocks(blocks(1.0, 0.01, count=2))
    with pytest.raises(UsageError, match="0 us"):
        compare_blocks([Block(0.0, 1.0, 1.0, 1.0)] * 3)


def test_overall_call_is_worst_case() -> None:
    assert overall(["FASTER", "SLOWER", "UNSURE"]) == "SLOWER"
    assert overall(["FASTER", "UNSURE"]) == "UNSURE"
    assert overall(["FASTER", "SAME"]) == "FASTER"
    assert overall(["SAME"]) == "SAME"
