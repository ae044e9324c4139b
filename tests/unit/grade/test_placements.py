"""The time of a case over several processes, by the samples that each took."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence

import msgspec
import pytest

from benchguard.grade.placements import SAMPLES_MIN, notes_of, placed, placements_of
from benchguard.grade.result import Placements
from benchguard.replay.result import SampleRow
from benchguard.replay.statistics import summarise
from tests.unit.grade.test_timing import honest, table


def rows_of(times: Sequence[float], samples: int = 40) -> list[SampleRow]:
    """Rows of processes that each took samples of one time, in microseconds."""
    return [
        dataclasses.replace(row, device_us=us, process=process)
        for process, us in enumerate(times)
        for row in table(samples, honest, seed=process)
    ]


def found(rows: Sequence[SampleRow]) -> Placements | None:
    return placements_of(rows, [row.device_us for row in rows], {row.process for row in rows})


def test_single_process_gives_no_time_over_processes() -> None:
    assert found(rows_of([10.0])) is None and found([]) is None


def test_time_is_the_geometric_mean_of_the_medians_with_an_interval_over_processes() -> None:
    rows = rows_of((10.0, 11.0, 12.1))
    placements = found(rows)
    assert placements is not None
    assert placements.medians_us == (10.0, 11.0, 12.1) and placements.spread == pytest.approx(0.21)
    half = 4.303 * math.log(1.1) / math.sqrt(3)  # t of two degrees of freedom
    summary = placed(summarise([row.device_us for row in rows]), placements)
    assert summary.median == pytest.approx(11.0) and summary.n == 120
    assert summary.ci95 == pytest.approx((11 * math.exp(-half), 11 * math.exp(half)))
    assert list(notes_of(placements)) == [
        "timed in 3 processes, with medians from 10 to 12.1 us (21.0% apart)"
    ]


def test_process_with_few_samples_on_the_own_distribution_has_their_median() -> None:
    """The kernel is faster on the other distributions, and processes have different numbers of samples on them."""
    rows = [
        row
        if each % (3 if row.process == 1 else 2) == 0
        else dataclasses.replace(row, own=False, device_us=3.0)
        for each, row in enumerate(rows_of([10.0] * 3))
    ]
    placements = found(rows)
    assert placements is not None and placements.medians_us == (10.0, 10.0, 10.0)


def test_interval_covers_the_time_in_95_of_100_cases() -> None:
    draw, missed = random.Random(3), 0
    for _ in range(400):
        rows = rows_of([10 * draw.lognormvariate(0, 0.014) for _ in range(4)], samples=SAMPLES_MIN)
        placements = found(rows)
        interval = placed(summarise([row.device_us for row in rows]), placements).ci95
        assert placements is not None and interval is not None
        missed += not interval[0] <= 10 <= interval[1]
    assert missed <= 32


@pytest.mark.parametrize("left", [0, SAMPLES_MIN - 1])
def test_process_with_too_few_reported_samples_gives_no_time_over_processes(left: int) -> None:
    rows = rows_of([10.0, 11.0])[: 40 + left]
    assert placements_of(rows, [row.device_us for row in rows], {0, 1}) is None


def test_placements_survive_json() -> None:
    placements = found(rows_of([10.0, 12.0]))
    assert msgspec.json.decode(msgspec.json.encode(placements), type=type(placements)) == placements
