"""Replays in turn: medians by block, and one test for carried results over all replays of a side."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import count

from benchguard.grade.outcome import Outcome
from benchguard.grade.turns import Failure, Replayed, Turns, take_turns
from benchguard.replay.result import SampleRow
from tests.unit.grade.test_timing import honest, remembers, table

REPLAYS = 6
SAMPLES = 40


def flat(us: float, one_use_us: float = 0.0) -> Sequence[SampleRow]:
    rows = table(SAMPLES, lambda new, _: one_use_us if new and one_use_us else us, seed=round(us))
    return tuple(rows)


def test_blocks_have_medians_in_the_order_of_the_replays() -> None:
    a, b = [flat(10), flat(12), flat(14), flat(16)], [flat(20), flat(22), flat(24), flat(26)]
    blocks = [dataclasses.astuple(block) for block in Turns((a, b)).blocks()]
    assert blocks == [(10, 20, 22, 12), (14, 24, 26, 16)]


def test_side_that_is_slower_on_one_use_inputs_is_timed_on_them() -> None:
    turns = Turns(([flat(10), flat(10)], [flat(10, 15), flat(10, 15)]))
    assert (turns.is_one_use(0), turns.is_one_use(1)) == (False, True)
    assert [dataclasses.astuple(block) for block in turns.blocks()] == [(10, 15, 15, 10)]


def test_results_carried_in_some_replays_do_not_shorten_their_medians() -> None:
    """The tests over all replays find nothing: most one-use samples are beside honest ones."""
    b = [table(SAMPLES, remembers if each % 3 == 0 else honest, seed=each) for each in range(REPLAYS)]
    turns = Turns(([table(SAMPLES, honest, seed=100 + each) for each in range(REPLAYS)], [*b]))
    assert turns.carried() is None and not turns.is_one_use(1)
    for block in turns.blocks():
        assert min(dataclasses.astuple(block)) > 95


def test_carried_results_are_found_over_all_replays_of_a_side() -> None:
    a = [table(SAMPLES, honest, one_use=8, seed=each) for each in range(REPLAYS)]
    b = [table(SAMPLES, remembers, one_use=8, seed=each) for each in range(REPLAYS)]
    failure = Turns(([*a], [*b])).carried()
    assert failure is not None
    assert (failure.side, failure.outcome.verdict) == (1, "violation")


def test_samples_of_all_replays_of_the_longest_comparison_are_tested() -> None:
    """30 blocks, of 60 replays a side, have 720 one-use samples."""
    a = [table(SAMPLES, honest, seed=each) for each in range(60)]
    b = [table(SAMPLES, remembers, seed=each) for each in range(60)]
    turns = Turns(([*a], [*b]))
    assert not turns.is_one_use(0) and turns.is_one_use(1)
    failure = turns.carried()
    assert failure is not None and failure.side == 1


def test_honest_sides_are_not_accused() -> None:
    for seed in range(20):
        sides = [[table(SAMPLES, honest, one_use=8, seed=100 * seed + each)] * REPLAYS for each in range(2)]
        assert Turns(([*sides[0]], [*sides[1]])).carried() is None


def taken(times: Callable[[int, int], float], blocks: int) -> tuple[Turns | Failure, list[int]]:
    """Turns whose replays have the times of a side and a number, and the numbers of the blocks that were reported."""
    counts, reported = [0, 0], list[int]()

    def turn(side: int) -> Replayed:
        counts[side] += 1
        return Replayed(flat(times(side, counts[side])))

    return take_turns(turn, blocks, reported.append), reported


def test_turns_end_after_three_blocks_with_a_clear_result() -> None:
    turns, reported = taken(lambda side, number: 100 + 20 * side + number % 2, 20)
    assert isinstance(turns, Turns)
    assert (reported, turns.early, turns.compared()[0].call) == ([0, 1, 2], True, "SLOWER")


def test_turns_without_a_clear_result_take_all_blocks() -> None:
    turns, reported = taken(lambda side, number: 100 + 10 * ((side + number) % 3), 5)
    assert isinstance(turns, Turns)
    assert (len(reported), turns.early, turns.compared()[0].call) == (5, False, "UNSURE")


def test_turns_compare_medians_at_one_time_of_a_launch() -> None:
    """B's launches take longer in every second replay, and its medians with them."""

    def turn(side: int) -> Replayed:
        numbers[side] += 1
        longer = (numbers[side] + numbers[side] // 2) % 2 / 10
        return Replayed(flat(100 + 20 * round(10 * longer)), 3.0 + longer)

    numbers = [0, 0]
    turns = take_turns(turn, 4, lambda _: None)
    assert isinstance(turns, Turns) and len(turns.launches_us()) == 3
    comparison, _ = turns.compared()
    assert (comparison.call, round(comparison.ratio, 6), round(comparison.floor, 6)) == ("SAME", 1.0, 0.0)


def test_turns_of_the_fewest_blocks_have_an_interval_of_95_percent() -> None:
    turns, _ = taken(lambda side, number: 100 + 20 * side + number % 2, 3)
    assert isinstance(turns, Turns) and not turns.early


def test_side_that_keeps_results_is_found_at_an_early_end() -> None:
    def turn(side: int) -> Replayed:
        return Replayed(table(SAMPLES, remembers if side else honest, one_use=8, seed=next(seeds)))

    seeds = count()
    failure = take_turns(turn, 20, lambda _: None)
    assert isinstance(failure, Failure) and failure.outcome.verdict == "violation"


def test_turn_that_does_not_pass_ends_all() -> None:
    failure = take_turns(
        lambda side: Outcome("wrong", "no") if side else Replayed(flat(10)), 20, lambda _: None
    )
    assert failure == Failure(1, Outcome("wrong", "block 1: no"))
