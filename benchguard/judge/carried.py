"""Whether something is carried from one sample to the next: inputs used once against inputs used again.

Some input sets are for one sample each, at random places of a run; the others come again and again. Before each
sample all memory is restored, so a kernel should have no way to tell them apart. One that is faster on what it has
seen before has found one, and its time is that of remembering.

The test. Clocks and heat drift, so each time is taken relative to the median of its neighbours, one-use or not.
The one-use samples' places were drawn at random, so under no difference any of their ranks is as likely as any
other: a permutation test of their mean rank, whatever the noise. A kernel's time may honestly depend on its data,
and then samples of one set are not so many witnesses but one: told the sets, the same test is made of one number a
set, its median. Evidence needs p < P_MAX, and p < SETS_P_MAX by sets, and also a difference of medians over
EFFECT_MIN: a difference may be certain and yet too small to be worth a cheat. With 8 repeated sets and 4 for one
use p is 1/495 by sets, if these are all slower than those; with 4 and 4 it cannot be low enough.

How often it is wrong, simulated (seven models of noise in tests/unit/judge/test_carried.py, 1000 runs of each at
three sizes): 6 of 21000 where times do not depend on data. Where they do, with a standard deviation of 5 % from set
to set: 24 of 7000, and 19 of 1000 without being told the sets. A difference of 5 % was seen in 49 or 50 of 50 runs
under every noise but two speeds 8 % apart, and 10 % with 8 one-use sets under that, too; where times depend on data,
10 % in half of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

EFFECT_MIN = 0.02
P_MAX = 1e-3
SETS_P_MAX = 3e-3
ONE_USE_MIN = 4
REPEATED_MIN = 20
"""Samples of each kind below which nothing is said."""

ONE_USE_MAX = 256
NEIGHBOURS = 21
PERMUTATIONS = 20_000

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class FirstUse:
    """Medians in microseconds, NaN for no sample. `remembered`: repeated inputs are faster, and `text` says so."""

    one_use_us: float
    repeated_us: float
    p_value: float
    remembered: bool
    text: str


def first_use(rows: Sequence[tuple[float, bool]], sets: Sequence[int] | None = None) -> FirstUse:
    """Of (microseconds, whether its input set is for one sample), in the order they were taken, and of the number
    of each one's set: without it a kernel whose time depends on its data may be wronged."""
    times = np.array([each for each, _ in rows], np.float64)
    once = np.array([each for _, each in rows], np.bool_)
    one_use, repeated = _median(times[once]), _median(times[~once])
    count = int(once.sum())
    few = count < ONE_USE_MIN or len(rows) - count < REPEATED_MIN
    if few or count > ONE_USE_MAX or not (np.isfinite(times).all() and (times > 0).all()):
        return FirstUse(one_use, repeated, 1.0, False, "")
    relative = np.log(times) - np.log(_around(times))
    slower = math.expm1(float(np.median(relative[once]) - np.median(relative[~once])))
    p_value = _by_chance(_ranks(relative), once)
    unlikely = p_value < P_MAX
    if sets is not None:
        by_sets = _by_chance(*_of_sets(relative, once, np.array(sets, np.int64)))
        unlikely = unlikely and by_sets < SETS_P_MAX
        p_value = max(p_value, by_sets)
    if slower <= EFFECT_MIN or not unlikely:
        return FirstUse(one_use, repeated, p_value, False, "")
    text = (
        f"inputs used once take {one_use:.4g} us, inputs used again {repeated:.4g} us ({slower:.1%} "
        f"slower, p = {p_value:.1g}): something is carried from one sample to the next"
    )
    return FirstUse(one_use, repeated, p_value, True, text)


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _around(times: Floats) -> Floats:
    """The median of each one and its neighbours; at the ends, of the outermost window."""
    size = min(NEIGHBOURS, len(times))
    medians = np.median(sliding_window_view(times, size), axis=1)
    return np.pad(medians, (size // 2, len(times) - len(medians) - size // 2), mode="edge")


def _of_sets(relative: Floats, once: Mask, sets: NDArray[np.int64]) -> tuple[Floats, Mask]:
    """Ranks of the sets' medians, and which are of one-use sets."""
    numbers, first = np.unique(sets, return_index=True)
    medians = np.array([np.median(relative[sets == each]) for each in numbers])
    return _ranks(medians), once[first]


def _ranks(values: Floats) -> Floats:
    """Ties, which an event's tick makes, share their mean rank."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[where], np.float64)


def _by_chance(ranks: Floats, once: Mask) -> float:
    """How often as many places drawn at random have as large a sum of ranks."""
    observed = ranks[once].sum()
    places = _drawn(len(ranks), int(once.sum()))
    reached = int((ranks[places].sum(axis=1) >= observed - 1e-9).sum())
    return (1 + reached) / (1 + PERMUTATIONS)


def _drawn(among: int, count: int) -> NDArray[np.int64]:
    """PERMUTATIONS draws of `count` different places (Floyd's algorithm; Bentley, CACM 30(9), 1987).

    The seed is fixed, so that the same times always say the same.
    """
    random = np.random.default_rng(0x6E6575)
    drawn = np.full((PERMUTATIONS, count), -1, np.int64)
    for place in range(count):
        last = among - count + place
        wish = random.integers(0, last + 1, PERMUTATIONS)
        taken = (drawn[:, :place] == wish[:, None]).any(axis=1)
        drawn[:, place] = np.where(taken, last, wish)
    return drawn
