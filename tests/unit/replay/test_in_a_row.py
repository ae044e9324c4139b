"""How many samples in a row are taken, on which sets, and how much longer they take."""

from __future__ import annotations

from itertools import islice

import msgspec
import pytest

from benchguard.replay.in_a_row import (
    AGAIN,
    BESIDE,
    LEAST,
    MOST,
    allow,
    allowed_us,
    covering,
    longer_in_rounds_us,
    longer_us,
    longest_on,
    order_of,
    seconds_of,
)
from benchguard.replay.protocol import Sample
from tests.unit.replay.fake_engine import sample


def taking(*spans: float, input_set: int = 0) -> list[Sample]:
    return [msgspec.structs.replace(sample(100.0, input_set=input_set), span_us=each) for each in spans]


OTHERS = taking(200.0, 200.5, 201.0) + taking(400.0, input_set=1)


def test_each_set_follows_itself_and_another_one() -> None:
    assert list(islice(order_of([0, 4, 7]), 8)) == [7, 0, 0, 4, 4, 7, 7, 0]
    assert list(islice(order_of([3]), 3)) == [3, 3, 3]


def test_processes_begin_with_different_sets() -> None:
    begin = [list(islice(order_of(range(8), process, 4), LEAST)) for process in range(4)]
    assert begin == [[7, 0, 0], [1, 2, 2], [3, 4, 4], [5, 6, 6]]
    assert list(islice(order_of([3], 5, 6), 3)) == [3, 3, 3]


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("sets", [1, 2, 7, 8])
def test_processes_use_every_set_with_the_covering_number(sets: int, processes: int) -> None:
    count = covering(sets, processes)
    used = [islice(order_of(range(sets), process, processes), count) for process in range(processes)]
    assert {number for each in used for number in each} == set(range(sets))


def test_every_set_is_used_until_a_share_of_the_time_of_sampling_has_passed() -> None:
    assert seconds_of(10.0, count=4, sets=8, processes=4) == 0.5
    assert seconds_of(10.0, count=5, sets=8, processes=4) == 0.125
    assert seconds_of(1.0, count=4, sets=8, processes=1) == 0.5


def test_covering_number_has_limits() -> None:
    assert covering(8, 1) == 17 and covering(8, 4) == 5
    assert covering(8, 16) == LEAST and covering(400, 1) == MOST


def test_longer_counts_the_set_on_which_calls_take_longest() -> None:
    """A kernel that does all of its work on half of the sets is fast on the others, which make the median."""
    samples = taking(450.0, input_set=1) + taking(200.5, 200.5)
    assert longer_us(samples, OTHERS) == 50.0
    assert longest_on(samples, OTHERS, [0, 1, 2]) == [1, 0]
    assert longest_on(samples, OTHERS, [4]) == [4]


def test_longer_compares_samples_with_others_on_their_set() -> None:
    assert longer_us(taking(200.5, 200.5) + taking(400.0, input_set=1), OTHERS) == 0
    assert longer_us(taking(210.5) + taking(410.0, input_set=1) * 2, OTHERS) == 10.0
    assert longer_us(taking(900.0, input_set=5), OTHERS) == 0
    assert longer_us([], OTHERS) == 0
    assert longer_us(taking(0.0), OTHERS) == 0


@pytest.mark.parametrize(
    ("fast", "slow", "found"), [(1, 2, 50.0), (2, 1, 0.0), (5, 10, 50.0), (10, 5, 50.0), (12, 3, 0.0)]
)
def test_longer_counts_the_last_half_because_prepared_memory_is_used_up_then(
    fast: int, slow: int, found: float
) -> None:
    assert longer_us(taking(*[200.5] * fast, *[250.5] * slow), OTHERS) == found


def test_longer_ignores_one_disturbed_sample() -> None:
    assert longer_us(taking(3986.7, 200.5, 200.5), OTHERS) == 0


def test_allowed_is_a_share_of_long_times() -> None:
    assert allowed_us(9.0) == 4.0
    assert allowed_us(14000.0) == 840.0


def test_rounds_are_compared_with_the_restored_samples_beside_them() -> None:
    """Another process may use the device for a while. A kernel may do all of its work since the first call in a row."""
    first = taking(*[250.5] * LEAST)
    busy = taking(*[260.0] * BESIDE, *[260.5] * AGAIN, *[260.0] * BESIDE)
    idle = taking(*[200.5] * BESIDE, *[201.0] * AGAIN, *[200.5] * BESIDE)
    longer = taking(*[200.5] * BESIDE, *[250.5] * AGAIN, *[200.5] * BESIDE)
    assert longer_in_rounds_us(first, LEAST, OTHERS) == 50.0
    assert longer_in_rounds_us([*first, *busy], LEAST, OTHERS) == 59.5
    assert longer_in_rounds_us([*first, *busy, *idle], LEAST, OTHERS) == 0.5
    assert longer_in_rounds_us([*first, *longer, *longer], LEAST, OTHERS) == 50.0
    assert longer_in_rounds_us([*first, *longer, *idle], LEAST, OTHERS) == 0.5


def test_calls_may_take_longer_by_the_allowed_time() -> None:
    assert allow(6.0, OTHERS) and not allow(6.1, OTHERS)
