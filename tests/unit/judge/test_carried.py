"""The test for caching: it reports kernels that keep results, and does not report noise.

`python tests/unit/judge/test_carried.py RUNS` measures how often noise trips it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest

from benchguard.judge import carried
from benchguard.judge.carried import PERMUTATIONS, FirstUse, _by_chance, _draw_permutations, first_use

Noise = Callable[[np.random.Generator, int], np.ndarray]


def jitter(random: np.random.Generator, n: int) -> np.ndarray:
    """1.2 %, as between calls of a short kernel."""
    return random.normal(0, 0.012, n)


def spikes(random: np.random.Generator, n: int) -> np.ndarray:
    """3 % of samples up to twice as long."""
    return jitter(random, n) + (random.random(n) < 0.03) * random.uniform(0, 0.7, n)


def wander(random: np.random.Generator, n: int) -> np.ndarray:
    """A clock that wanders by about 1 % within tens of samples."""
    steps = random.normal(0, 0.002, n)
    walk = np.zeros(n)
    for i in range(1, n):
        walk[i] = 0.98 * walk[i - 1] + steps[i]
    return walk + random.normal(0, 0.003, n)


def drift(random: np.random.Generator, n: int) -> np.ndarray:
    """5 % slower at the end, as a device that heats."""
    return np.linspace(0, 0.05, n) + random.normal(0, 0.004, n)


def two_speeds(random: np.random.Generator, n: int) -> np.ndarray:
    """Every sample on one of two speeds, 8 % apart: where in memory it happened to lie."""
    return (random.random(n) < 0.4) * 0.08 + random.normal(0, 0.002, n)


def heavy(random: np.random.Generator, n: int) -> np.ndarray:
    """Tails like Student's t with two degrees of freedom."""
    return 0.01 * np.abs(random.standard_t(2, n))


def ticks(random: np.random.Generator, n: int) -> np.ndarray:
    """Times of about 1.5 us in ticks of 32 ns: 2 % each."""
    return np.log(np.maximum(0.032, np.round(1.5 * np.exp(random.normal(0, 0.01, n)) / 0.032) * 0.032) / 1.5)


NOISES: tuple[Noise, ...] = (jitter, spikes, wander, drift, two_speeds, heavy, ticks)


def test_normal_sum_of_ranks_agrees_with_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    for shift in (0.0, 0.2, 0.5):
        ranks = np.round(random.normal(0, 1, 400) * 8)  # with ties
        once = random.random(400) < 0.25
        ranks[once] += 8 * shift * random.random(int(once.sum()))
        monkeypatch.setattr(carried, "DRAWN_MAX", 1 << 30)
        drawn = _by_chance(ranks, once)
        monkeypatch.setattr(carried, "DRAWN_MAX", 0)
        assert _by_chance(ranks, once) == pytest.approx(drawn, rel=0.1, abs=2e-3)


def test_equal_times_on_many_one_use_inputs_are_no_caching() -> None:
    found = first_use([(10.0, number % 4 == 0) for number in range(2000)])
    assert not found.remembered and found.p_value >= 0.5


def run(
    noise: Noise, random: np.random.Generator, n: int, count: int, slower: float = 0.0, by_data: float = 0.0
) -> FirstUse:
    """`by_data`: how much (standard deviation) a set's time depends on what is in it."""
    once = np.zeros(n, bool)
    once[random.choice(n, count, replace=False)] = True
    sets = random.integers(0, 8, n)
    sets[once] = 8 + np.arange(count)
    effects = random.normal(0, by_data, 8 + count)
    times = 20 * np.exp(noise(random, n) + effects[sets] + slower * once)
    return first_use(list(zip(times.tolist(), once.tolist(), strict=True)), sets.tolist())


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("count", [4, 8])
def test_noise_not_reported_as_caching(noise: Noise, count: int) -> None:
    """Wrong once in 1000 at most, so that one in 20 would be much."""
    random = np.random.default_rng(7)
    assert sum(run(noise, random, 100, count).remembered for _ in range(20)) <= 1


@pytest.mark.parametrize("noise", NOISES)
def test_difference_of_ten_percent_detected(noise: Noise) -> None:
    random = np.random.default_rng(3)
    items = [run(noise, random, 200, 8, math.log(1.10)) for _ in range(10)]
    total = sum(each.remembered for each in items)
    assert total >= (3 if noise is two_speeds else 9)
    assert all(bool(each.text) is each.remembered for each in items)


def test_data_dependent_times_not_reported() -> None:
    random = np.random.default_rng(11)
    assert sum(run(jitter, random, 200, 8, by_data=0.05).remembered for _ in range(40)) <= 1


def test_few_sets_no_result() -> None:
    """4 and 4: all slower than all others once in 70, by chance."""
    rows = [(12.0 if i % 20 == 3 else 10.0, i % 20 == 3) for i in range(80)]
    sets = [4 + i // 20 if i % 20 == 3 else i % 4 for i in range(80)]
    assert first_use(rows).remembered
    assert not first_use(rows, sets).remembered


def test_small_difference_not_reported() -> None:
    rows = [(10.0 + 0.0001 * (i % 7) + 0.1 * (i % 12 == 5), i % 12 == 5) for i in range(200)]
    result = first_use(rows)
    assert result.p_value < 1e-3 and not result.remembered


def test_faster_one_use_inputs_not_reported() -> None:
    rows = [(10.0 + 0.01 * (i % 7) - 2 * (i % 12 == 5), i % 12 == 5) for i in range(200)]
    result = first_use(rows)
    assert result.p_value > 0.99 and not result.remembered


def test_first_use_result_has_medians_and_text() -> None:
    rows = [(12.0 if i % 20 == 3 else 10.0, i % 20 == 3) for i in range(200)]
    result = first_use(rows)
    assert (result.one_use_us, result.repeated_us, result.remembered) == (12.0, 10.0, True)
    assert (
        "one-use inputs take 12 us" in result.text
        and "repeated inputs 10 us" in result.text
        and "20.0%" in result.text
    )


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(1.0, False)] * 100,
        [(1.0, True)] * 3 + [(0.5, False)] * 100,
        [(1.0, True)] * 8 + [(0.5, False)] * 19,
        [(0.0, True)] * 8 + [(0.5, False)] * 100,
        [(math.nan, True)] * 8 + [(0.5, False)] * 100,
    ],
)
def test_too_few_samples_no_result(rows: list[tuple[float, bool]]) -> None:
    result = first_use(rows)
    assert result.p_value == 1.0 and not result.remembered and result.text == ""


def test_permutation_draws_distinct_and_uniform() -> None:
    permutations = _draw_permutations(12, 5)
    assert permutations.shape == (5, PERMUTATIONS)
    assert all(len(set(draw)) == 5 for draw in permutations.T[:500].tolist())
    shares = np.bincount(permutations.ravel(), minlength=12) / permutations.size
    assert np.abs(shares - 1 / 12).max() < 0.005


@pytest.mark.parametrize(("among", "count"), [(16, 8), (110, 8), (24, 24), (300, 40)])
def test_permutation_draws_follow_floyds_algorithm_on_one_seed(among: int, count: int) -> None:
    """A draw at a time, in plain Python: equal times get the p-value that earlier versions gave them."""
    random = np.random.default_rng(0x6E6575)
    wishes = [random.integers(0, among - count + place + 1, PERMUTATIONS) for place in range(count)]
    permutations = _draw_permutations(among, count)
    for draw in range(0, PERMUTATIONS, 199):
        places: list[int] = []
        for place in range(count):
            wish = int(wishes[place][draw])
            places.append(among - count + place if wish in places else wish)
        assert permutations[:, draw].tolist() == places


def measure(runs: int) -> None:
    for noise in NOISES:
        for n, count, by_data in ((100, 4, 0.0), (100, 8, 0.0), (400, 8, 0.0), (200, 8, 0.05)):
            random = np.random.default_rng(n + count)
            wrong = sum(run(noise, random, n, count, 0.0, by_data).remembered for _ in range(runs))
            items = [
                sum(run(noise, random, n, count, math.log1p(by), by_data).remembered for _ in range(50))
                for by in (0.03, 0.05, 0.1)
            ]
            name = f"{noise.__name__:10} n={n} one-use={count} by data={by_data:.0%}"
            print(f"{name}: {wrong} of {runs} wrong; of 50 seen at 3, 5, 10 %: {items}", flush=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]))
