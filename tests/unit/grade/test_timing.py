"""The time that is reported is the time of work, however a kernel hides that it remembers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from benchguard.grade.timing import first_use_of, least_reason, reported
from benchguard.replay.result import SampleRow

SETS = 8


def table(
    n: int, time: Callable[[bool, random.Random], float], one_use: int = 12, seed: int = 1
) -> list[SampleRow]:
    """`time` of a sample, told whether its input is new to the kernel."""
    draw = random.Random(seed)
    places = set(draw.sample(range(min(n, 100)), min(one_use, n)))
    rows = []
    for number in range(n):
        one_use = number in places
        us = time(one_use, draw)
        of_set = SETS + number if one_use else draw.randrange(SETS)
        rows.append(SampleRow(number, us, us + 10, 5.0, 1980.0, of_set, False, (), one_use=one_use))
    return rows


def honest(_: bool, draw: random.Random) -> float:
    return 100 * draw.lognormvariate(0, 0.01)


def remembers(new: bool, draw: random.Random) -> float:
    return (100 if new else 50) * draw.lognormvariate(0, 0.01)


def shy(new: bool, draw: random.Random) -> float:
    """Of what it knows it copies the answer in 10 of 16, and works four times as long in the others."""
    if new:
        return 100 * draw.lognormvariate(0, 0.01)
    return (50 if draw.random() < 10 / 16 else 400) * draw.lognormvariate(0, 0.01)


def easy(new: bool, draw: random.Random) -> float:
    """Shy, and of the inputs it has never seen a third is easy, and honestly fast."""
    if new:
        return (30 if draw.random() < 1 / 3 else 100) * draw.lognormvariate(0, 0.01)
    return shy(new, draw)


def reasons(rows: list[SampleRow]) -> list[str]:
    found = first_use_of(rows)
    assert found is not None
    return [text for text in (found.text, least_reason(rows)) if text]


@pytest.mark.full
def test_an_honest_kernel_gives_no_reason() -> None:
    """In one of 400 runs, at the most, by what little is left to chance."""
    assert sum(bool(reasons(table(200, honest, seed=seed))) for seed in range(400)) <= 1


@pytest.mark.parametrize("cheat", [remembers, shy])
@pytest.mark.parametrize("seed", range(5))
def test_one_that_remembers_is_found(cheat: Callable[[bool, random.Random], float], seed: int) -> None:
    assert reasons(table(200, cheat, seed=seed))


def test_the_shy_one_is_found_by_its_least_alone() -> None:
    """Its one-use samples have middling ranks, so the test of ranks sees nothing: the control of the other test."""
    rows = table(200, shy)
    found = first_use_of(rows)
    assert found is not None
    assert not found.remembered
    assert "the fastest of" in least_reason(rows)


@pytest.mark.parametrize("n", [1, 5, 12, 20, 31])
def test_with_few_samples_those_on_new_inputs_are_the_time(n: int) -> None:
    rows = reported(table(n, remembers))
    assert rows
    assert all(row.one_use for row in rows)
    assert all(row.device_us > 90 for row in rows)


def test_with_enough_samples_all_are_the_time() -> None:
    """But in a few of 400 runs, where noise makes a dozen samples that much slower: then the time is theirs."""
    runs = [table(200, honest, seed=seed) for seed in range(400)]
    assert sum(reported(rows) != rows for rows in runs) <= 2


@pytest.mark.parametrize("cheat", [remembers, shy, easy])
@pytest.mark.parametrize("seed", range(10))
def test_the_time_of_one_that_remembers_is_that_of_work(
    cheat: Callable[[bool, random.Random], float], seed: int
) -> None:
    """Whether it is found or not: it would have to be fast on more than half of what it never saw."""
    rows = reported(table(200, cheat, seed=seed))
    times = sorted(row.device_us for row in rows)
    assert times[len(times) // 2] > 95


def test_without_one_use_sets_nothing_is_held_against_it() -> None:
    rows = table(50, remembers, one_use=0)
    assert first_use_of(rows) is None
    assert least_reason(rows) == ""
    assert reported(rows) == rows
