"""Medians that follow the time of a launch are compared at one such time, and others are left as they are."""

from __future__ import annotations

import random
from collections import Counter

from benchguard.grade.comparison import Block
from benchguard.grade.launches import corrected
from tests.support.comparisons import call_of

LAUNCH_US, LAUNCH_DEVIATION = 3.4, 0.055
"""An empty kernel in 48 replays of a reduction on an H200."""

Measured = tuple[list[Block], list[Block]]


def replays(
    seed: int,
    ratio: float = 1.0,
    slopes: tuple[float, float] = (2.2, 2.2),
    noise: float = 0.0055,
    longer_b: float = 0.0,
    count: int = 20,
) -> Measured:
    """Blocks of a kernel of 12.5 us whose time grows by `slopes` us for each us of a launch, and their launches."""
    draw = random.Random(seed)

    def one(side: int) -> tuple[float, float]:
        launch = draw.gauss(LAUNCH_US, LAUNCH_DEVIATION) + side * longer_b
        time = 12.5 + slopes[side] * (launch - LAUNCH_US)
        return time * (ratio if side else 1.0) * (1 + draw.gauss(0, noise)), launch

    rows = [[one(side) for side in (0, 1, 1, 0)] for _ in range(count)]
    times, launches = ([Block(*(each[n] for each in row)) for row in rows] for n in (0, 1))
    return times, launches


def calls(count: int = 300, corrects: bool = True, **options: float | tuple[float, float]) -> Counter[str]:
    found = Counter[str]()
    for seed in range(count):
        times, launches = replays(seed, **options)  # type: ignore[arg-type]
        found[call_of(times, launches if corrects else [])] += 1
    return found


def test_equal_kernels_that_follow_the_launch_are_the_same_in_99_of_100() -> None:
    assert calls()["SAME"] >= 297
    assert calls(corrects=False)["SAME"] < 285


def test_two_percent_is_found_in_99_of_100() -> None:
    assert calls(ratio=1.02)["SLOWER"] >= 297
    assert calls(corrects=False, ratio=1.02)["SLOWER"] < 285


def test_kernels_that_follow_the_launch_differently_are_compared_at_its_mean() -> None:
    """One kernel against five in a row: each side has a slope of its own."""
    assert calls(slopes=(1.0, 5.0))["SAME"] >= 294
    assert calls(corrects=False, slopes=(1.0, 5.0))["SAME"] < 150


def test_times_that_do_not_follow_the_launch_keep_their_calls() -> None:
    plain, found = (calls(corrects=each, slopes=(0.0, 0.0), noise=0.004) for each in (False, True))
    assert min(plain["SAME"], found["SAME"]) >= 297


def test_shorter_times_of_longer_launches_are_left_as_they_are() -> None:
    times, launches = replays(1, slopes=(-2.2, -2.2), noise=0.0)
    assert list(corrected(times, launches)) == times


def test_launches_that_differ_between_the_sides_correct_nothing() -> None:
    """A submission whose state made launches longer would else gain what its slope makes of them."""
    times, launches = replays(2, longer_b=0.2)
    assert list(corrected(times, launches)) == times
    times, launches = replays(2)
    assert list(corrected(times, launches)) != times


def test_unknown_launches_correct_nothing() -> None:
    times, launches = replays(3)
    launches[4] = Block(LAUNCH_US, 0.0, LAUNCH_US, LAUNCH_US)
    assert corrected(times, launches) is times
    assert corrected(times, []) is times


def test_equal_launches_correct_nothing() -> None:
    times, _ = replays(4)
    assert list(corrected(times, [Block(3.0, 3.0, 3.0, 3.0)] * len(times))) == times
