"""Detect caching across samples: compare times on one-use input sets with times on repeated input sets.

One-use sets are drawn for one sample each, at random places of a run; repeated sets are drawn many times. All memory
is restored before each sample, so a kernel should be unable to tell the two kinds apart. A kernel that is faster on
repeated sets has kept something, and its time is not that of the computation.

The test. Clock rates and temperature drift, so each time is taken relative to the median of its neighbours. The
places of one-use samples are random, so without caching all of their ranks are equally likely, whatever the noise: a
permutation test of their mean rank applies. A kernel's time may legitimately depend on its data. Samples of one set
are then correlated, so the test is repeated with one value per set, the median of its times. Caching is reported if
p < P_MAX by samples, p < SETS_P_MAX by sets, and the medians differ by more than EFFECT_MIN, because a significant
difference may be too small to matter. With 8 repeated and 4 one-use sets, p by sets is 1/495 if all one-use sets are
slower than all repeated sets; with 4 and 4 it cannot be low enough.

False positives, simulated with seven noise models (tests/unit/judge/test_carried.py, 1000 runs of each at three
sizes): 6 of 21000 if times do not depend on data. If they do, with a standard deviation of 5 % between sets: 24 of
7000, or 19 of 1000 without the test by sets. Detection: a difference of 5 % in 49 or 50 of 50 runs under all noise
models except two speeds 8 % apart; 10 % with 8 one-use sets under that model too; 10 % in half of the runs if times
depend on data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.random import default_rng
from numpy.typing import NDArray

from .medians import median, medians

EFFECT_MIN = 0.02
P_MAX = 1e-3
SETS_P_MAX = 3e-3
ONE_USE_MIN = 4
REPEATED_MIN = 20
"""The test needs this many samples of each kind."""

ONE_USE_WISHED = 8
"""With fewer samples on one-use inputs, no accusation does not mean that nothing is carried."""

DRAWN_MAX = 64
"""With more one-use samples, as replays have together, the sum of ranks is normal, and draws would take seconds. At 100
of 600 samples the two probabilities differ by no more than chance does in PERMUTATIONS draws."""

NEIGHBOURS = 21
PERMUTATIONS = 20_000

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class FirstUse:
    """Medians in microseconds, NaN without samples. `remembered`: repeated inputs are faster, as `text` explains.

    `slower`: by which share the one-use inputs take longer, without the drift of the samples.
    """

    one_use_us: float
    repeated_us: float
    p_value: float
    remembered: bool
    text: str
    slower: float = 0.0


def first_use(rows: Sequence[tuple[float, bool]], sets: Sequence[int] | None = None) -> FirstUse:
    """Run the test on samples (microseconds, whether the input set is one-use), in the order of measurement.

    Pass the number of each sample's set too: without it a kernel whose time depends on its data may be accused falsely.
    """
    times = np.array([each for each, _ in rows], np.float64)
    once = np.array([each for _, each in rows], np.bool_)
    one_use, repeated = _median(times[once]), _median(times[~once])
    count = int(once.sum())
    few = count < ONE_USE_MIN or len(rows) - count < REPEATED_MIN
    if few or not (np.isfinite(times).all() and (times > 0).all()):
        return FirstUse(one_use, repeated, 1.0, False, "")
    relative = np.log(times) - np.log(_around(times))
    slower = math.expm1(median(relative[once]) - median(relative[~once]))
    p_value = _by_chance(_ranks(relative), once)
    unlikely = p_value < P_MAX
    if sets is not None:
        by_sets = _by_chance(*_of_sets(relative, once, np.array(sets, np.int64)))
        unlikely = unlikely and by_sets < SETS_P_MAX
        p_value = max(p_value, by_sets)
    if slower <= EFFECT_MIN or not unlikely:
        return FirstUse(one_use, repeated, p_value, False, "", slower)
    text = (
        f"one-use inputs take {one_use:.4g} us, repeated inputs {repeated:.4g} us ({slower:.1%} "
        f"slower, p = {p_value:.1g})"
    )
    return FirstUse(one_use, repeated, p_value, True, text, slower)


def untestable(one_use: int, repeated: int, one_use_sets: int, repeated_sets: int) -> str:
    """Why first_use() cannot tell, for numbers of samples and of the sets that they used; empty if it can."""
    if one_use < ONE_USE_WISHED:
        return f"{one_use} samples on one-use inputs, and {ONE_USE_WISHED} are needed"
    if 1 / math.comb(one_use_sets + repeated_sets, one_use_sets) >= SETS_P_MAX:
        return f"{one_use_sets} one-use and {repeated_sets} repeated input sets are too few"
    if repeated < REPEATED_MIN:
        return f"{repeated} samples on repeated inputs, and {REPEATED_MIN} are needed"
    return ""


def _median(values: Floats) -> float:
    return median(values) if len(values) else math.nan


def _around(times: Floats) -> Floats:
    """The median of each value and its neighbours; at the ends, the median of the outermost window."""
    size = min(NEIGHBOURS, len(times))
    around = medians(sliding_window_view(times, size))
    return np.pad(around, (size // 2, len(times) - len(around) - size // 2), mode="edge")


def _of_sets(relative: Floats, once: Mask, sets: NDArray[np.int64]) -> tuple[Floats, Mask]:
    """Ranks of the sets' medians, and the places of one-use sets."""
    numbers, first = np.unique(sets, return_index=True)
    of_sets = np.array([median(relative[sets == each]) for each in numbers])
    return _ranks(of_sets), once[first]


def _ranks(values: Floats) -> Floats:
    """Ranks; equal values share their mean rank. Ties are common, because events have a coarse tick."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[where], np.float64)


def _by_chance(ranks: Floats, once: Mask) -> float:
    """The share of random draws, of equally many places, whose sum of ranks is at least as large."""
    observed, count = ranks[once].sum(), int(once.sum())
    if count > DRAWN_MAX:
        return _by_normal(ranks, float(observed), count)
    places = _draw_permutations(len(ranks), count)
    reached = int((ranks[places].sum(axis=0) >= observed - 1e-9).sum())
    return (1 + reached) / (1 + PERMUTATIONS)


def _by_normal(ranks: Floats, observed: float, count: int) -> float:
    """The same for many draws, from the mean and the variance of a sum of `count` ranks drawn without replacement."""
    among = len(ranks)
    variance = count * (among - count) / among * float(np.var(ranks, ddof=1))
    if variance == 0:
        return 1.0
    return 0.5 * math.erfc((observed - count * float(np.mean(ranks))) / math.sqrt(2 * variance))


def _draw_permutations(among: int, count: int) -> NDArray[np.int32]:
    """PERMUTATIONS draws of `count` different places, a column each (Floyd's algorithm; Bentley, CACM 30(9), 1987).

    The seed is fixed, so that equal times give equal results.
    """
    random = default_rng(0x6E6575)
    permutations = np.empty((count, PERMUTATIONS), np.int32)
    for place in range(count):
        last = among - count + place
        wish = random.integers(0, last + 1, PERMUTATIONS).astype(np.int32)
        duplicates = (permutations[:place] == wish).any(axis=0)
        permutations[place] = np.where(duplicates, last, wish)
    return permutations
