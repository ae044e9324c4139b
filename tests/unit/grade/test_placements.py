"""Several replays of one case: their samples together, and the time over them."""

from __future__ import annotations

import dataclasses
import math
import random

import msgspec
import pytest

from benchguard.grade.placements import notes_of, placed, placements_of, pooled
from benchguard.judge.contract import Checked
from benchguard.replay.clocks import Clocks
from benchguard.replay.result import ReplayResult, SampleRow
from benchguard.replay.statistics import summarise
from tests.unit.grade.test_strict_replay import result
from tests.unit.grade.test_timing import honest, table

SECOND = 10**9


def replay(number: int, us: float) -> tuple[ReplayResult, Checked]:
    """A replay of 40 samples of `us` microseconds, `number` seconds after the first."""
    rows = [
        dataclasses.replace(row, device_us=us, ended_ns=number * SECOND + each)
        for each, row in enumerate(table(40, honest, seed=number))
    ]
    checked = Checked(40, 0, None, 0.1 * number, 0.0, number % 2, counts=((0, 30), (1, 10)))
    return dataclasses.replace(result(rows), notes=("a note",), converged=True), checked


def rows_of(found: ReplayResult) -> tuple[list[SampleRow], list[float]]:
    return list(found.table), [row.device_us for row in found.table]


def test_replays_together_have_all_samples_and_what_the_judge_said_of_them() -> None:
    together = pooled([replay(number, 10.0 + number) for number in range(3)])
    assert len(together.result.table) == 120 and together.ends == tuple(
        number * SECOND + 39 for number in range(3)
    )
    checked = together.checked
    assert (checked.samples, checked.counts, checked.nondeterministic) == (120, ((0, 90), (1, 30)), 1)
    assert checked.max_absolute_error == pytest.approx(0.2)
    assert together.result.notes == ("a note",) and together.result.converged


def test_other_programs_and_missing_protections_of_any_replay_count() -> None:
    first, last = replay(0, 10.0), replay(1, 10.0)
    disturbed = dataclasses.replace(
        first[0],
        clocks=Clocks("", other_processes=2, throttled_samples=3),
        confinement={"filesystem": "on", "identity": "no user is free"},
    )
    quiet = dataclasses.replace(
        last[0], clocks=Clocks(""), confinement={"filesystem": "on", "identity": "on"}
    )
    for order in ((disturbed, quiet), (quiet, disturbed)):
        together = pooled([(order[0], first[1]), (order[1], last[1])]).result
        assert (together.clocks.other_processes, together.clocks.throttled_samples) == (2, 3)
        assert together.confinement == {"filesystem": "on", "identity": "no user is free"}


def test_single_replay_stays_as_it_was() -> None:
    alone, checked = replay(0, 10.0)
    together = pooled([(alone, checked)])
    assert together.result is alone and together.checked is checked
    assert placements_of(*rows_of(alone), together.ends) is None


def test_replays_of_which_one_did_not_converge_did_not_converge() -> None:
    first, checked = replay(0, 10.0)
    together = pooled([(dataclasses.replace(first, converged=False), checked), replay(1, 10.0)])
    assert together.result.converged is False


def test_time_is_the_geometric_mean_of_the_medians_with_an_interval_over_replays() -> None:
    together = pooled([replay(number, us) for number, us in enumerate((10.0, 11.0, 12.1))])
    placements = placements_of(*rows_of(together.result), together.ends)
    assert placements is not None
    assert placements.medians_us == (10.0, 11.0, 12.1) and placements.spread == pytest.approx(0.21)
    half = 4.303 * math.log(1.1) / math.sqrt(3)  # t of two degrees of freedom
    summary = placed(summarise(rows_of(together.result)[1]), placements)
    assert summary.median == pytest.approx(11.0) and summary.n == 120
    assert summary.ci95 == pytest.approx((11 * math.exp(-half), 11 * math.exp(half)))
    assert list(notes_of(placements)) == ["timed in 3 replays, with medians from 10 to 12.1 us (21.0% apart)"]


def test_replay_with_few_samples_on_the_own_distribution_has_their_median() -> None:
    """The kernel is faster on the other distributions, and the replays have different numbers of samples on them."""
    replays = []
    for number, every in enumerate((2, 3, 2)):
        found, checked = replay(number, 10.0)
        rows = [
            row if each % every == 0 else dataclasses.replace(row, own=False, device_us=3.0)
            for each, row in enumerate(found.table)
        ]
        replays.append((dataclasses.replace(found, table=tuple(rows)), checked))
    together = pooled(replays)
    placements = placements_of(*rows_of(together.result), together.ends)
    assert placements is not None and placements.medians_us == (10.0, 10.0, 10.0)


def test_interval_covers_the_time_in_95_of_100_cases() -> None:
    draw, missed = random.Random(3), 0
    for _ in range(400):
        together = pooled([replay(each, 10 * draw.lognormvariate(0, 0.014)) for each in range(4)])
        placements = placements_of(*rows_of(together.result), together.ends)
        interval = placed(summarise(rows_of(together.result)[1]), placements).ci95
        assert placements is not None and interval is not None
        missed += not interval[0] <= 10 <= interval[1]
    assert missed <= 32


def test_replay_without_a_reported_sample_gives_no_time_over_replays() -> None:
    together = pooled([replay(0, 10.0), replay(1, 10.0)])
    rows, times = rows_of(together.result)
    assert placements_of(rows[:40], times[:40], together.ends) is None


def test_placements_survive_json() -> None:
    together = pooled([replay(0, 10.0), replay(1, 12.0)])
    placements = placements_of(*rows_of(together.result), together.ends)
    assert msgspec.json.decode(msgspec.json.encode(placements), type=type(placements)) == placements
