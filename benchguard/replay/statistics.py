"""Order statistics of lists of times, without assumptions about their distribution. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

TRIM = 0.1
"""Share cut from each end for the trimmed mean."""


@dataclass(frozen=True)
class Summary:
    """`ci95` needs six samples: fewer cannot bound the median with 95 % confidence."""

    n: int
    median: float
    ci95: tuple[float, float] | None
    mean: float
    trimmed_mean: float
    min: float
    p5: float
    p95: float
    mad: float


def summarise(values: Sequence[float]) -> Summary:
    """Summarise at least one value."""
    ordered = sorted(values)
    middle = quantile(ordered, 0.5)
    return Summary(
        n=len(ordered),
        median=middle,
        ci95=median_interval(ordered),
        mean=math.fsum(ordered) / len(ordered),
        trimmed_mean=trimmed_mean(ordered),
        min=ordered[0],
        p5=quantile(ordered, 0.05),
        p95=quantile(ordered, 0.95),
        mad=quantile(sorted(abs(value - middle) for value in ordered), 0.5),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Quantile of sorted values, interpolated linearly (type 7 of Hyndman and Fan, numpy's default)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def trimmed_mean(ordered: Sequence[float]) -> float:
    """The mean of sorted values without the outer TRIM of them at each end."""
    cut = int(len(ordered) * TRIM)
    middle = ordered[cut : len(ordered) - cut]
    return math.fsum(middle) / len(middle)


def variation(values: Sequence[float]) -> float:
    """Coefficient of variation of at least two values: sample standard deviation over mean."""
    mean = math.fsum(values) / len(values)
    square = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(square) / mean if mean > 0 else math.inf


def median_interval(ordered: Sequence[float]) -> tuple[float, float] | None:
    """The values between which the median of what was sampled lies with at least 95 %; None for too few."""
    rank = median_rank(len(ordered))
    return None if rank is None else (ordered[rank - 1], ordered[len(ordered) - rank])


@lru_cache(maxsize=64)
def median_rank(n: int) -> int | None:
    """The largest k for which the k-th smallest and the k-th largest of n enclose the median with >= 95 %.

    How many of n samples lie below the median is binomial (n, 1/2), so the interval misses it with
    2 P(X < k). Whole numbers throughout: 2 sum C(n, i) / 2^n <= 1/20 for i < k.
    """
    allowed = 2**n
    term, total, rank = 1, 0, 0  # term: C(n, rank), total: the sum of those before it
    while 40 * (total + term) <= allowed:
        total += term
        term = term * (n - rank) // (rank + 1)
        rank += 1
    return rank or None
