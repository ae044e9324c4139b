"""Compare times of samples with those of empty samples, which were taken between them. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..replay.statistics import quantile

STANDARD_ERRORS = 5.0
"""Noise, in standard errors of the difference of two medians; of a single time, in standard deviations."""

SPREAD_FACTOR = 3.0
"""Samples may vary so much more than empty ones."""

STRAY_P_MAX = 1e-5
STRAY_SHARE = 0.1
"""Strays disagree if more than this share of the samples are, and chance is less likely than that."""

_SIGMA = 1.4826
"""Standard deviation of normal noise over its median absolute deviation."""

_MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, for normal noise."""


@dataclass(frozen=True)
class Agreement:
    """How far samples differ from empty samples, in microseconds.

    Attributes:
        shift: median of the differences between empty samples and the samples beside them.
        least: nine tenths of these differences are larger.
        floor: the least noise that was assumed.
        noise: differences up to this are noise.
        strays: samples that are farther than noise from the median of the empty samples.
        stray_us: median distance of the strays from there; 0 without strays.
        samples: number of samples.
        by_chance: probability of so many strays if they are as frequent as among the empty samples.
    """

    shift: float
    least: float
    floor: float
    noise: float
    strays: int
    stray_us: float
    samples: int
    by_chance: float

    @property
    def has_strays(self) -> bool:
        return self.strays > STRAY_SHARE * self.samples and self.by_chance < STRAY_P_MAX


def agreement(
    samples: Sequence[float],
    empty: Sequence[float],
    differences: Sequence[float],
    floor: float,
    offset: float = 0.0,
    bounded: bool = False,
) -> Agreement:
    """Compare times in microseconds.

    `differences` has the times of the samples beside each empty sample less its own. Clocks and load drift, so these
    differ by less than all samples from all empty samples. Differences up to `floor` are noise in any case. `offset`
    is how far `samples` are from all samples, if they are only a part; `least` is without it. `bounded`: samples that
    vary more than empty ones do not make the noise larger, because who moves times can also make them vary.
    """
    middle, expected = median(differences), median(empty)
    own_spread, usual_spread = _spread(samples, median(samples)), _spread(empty, expected)
    spread = _spread(differences, middle)
    if bounded:
        most = max(SPREAD_FACTOR * usual_spread, floor / 2)
        own_spread, spread = min(own_spread, most), min(spread, math.hypot(most, usual_spread))
    error = _MEDIAN_ERROR * math.hypot(spread / math.sqrt(len(empty)), own_spread / math.sqrt(len(samples)))
    far = max(floor, STANDARD_ERRORS * max(own_spread, usual_spread))
    strays = [each for each in _deviations(samples, expected) if each > far]
    usual = sum(each > far for each in _deviations(empty, expected))
    return Agreement(
        shift=middle + offset,
        least=quantile(sorted(differences), 0.1),
        floor=floor,
        noise=max(floor, STANDARD_ERRORS * error),
        strays=len(strays),
        stray_us=median(strays) if strays else 0.0,
        samples=len(samples),
        by_chance=_by_chance(len(strays), len(samples), usual, len(empty)),
    )


def median(values: Sequence[float]) -> float:
    """The median of at least one value."""
    return quantile(sorted(values), 0.5)


def _spread(values: Sequence[float], middle: float) -> float:
    """The standard deviation that the median absolute deviation suggests."""
    return _SIGMA * median(_deviations(values, middle))


def _deviations(values: Sequence[float], middle: float) -> list[float]:
    return [abs(each - middle) for each in values]


def _by_chance(strays: int, samples: int, usual: int, empty: int) -> float:
    """Fisher's exact test, one-sided: the probability of at least `strays` among the samples."""
    together = strays + usual
    most = min(together, samples)
    ways = sum(
        math.comb(samples, each) * math.comb(empty, together - each)
        for each in range(strays, most + 1)
        if together - each <= empty
    )
    return ways / math.comb(samples + empty, together)
