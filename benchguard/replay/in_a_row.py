"""Samples on the memory that the call before left: how many, on which input sets, and how much longer they take
(docs/adr/0057)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Protocol

from .statistics import quantile

LEAST, MOST = 3, 64
TIME_SHARE = 0.05
"""After LEAST samples, more are taken until MOST, or until this share of the time of the other samples has passed."""

AGAIN = 15
PAUSE_SECONDS = 0.05
"""While samples take longer, up to AGAIN are taken with pauses: another process may use the device. A call of 124 us
took 3.8 ms, then 0.7 ms longer, then as long as others, while six grades shared an H200 (25c05fd9)."""

FLOOR_US = 4.0
LONGER_SHARE = 0.05
"""A call may take so much longer, or this share of its time longer. Seen on H200s that six grades shared (25c05fd9): at
most 2.7 us in 101 of 103 honest cases, and 766 us of 14 ms in one (medians of three)."""


class Timed(Protocol):
    @property
    def input_set(self) -> int | None: ...

    @property
    def device_us(self) -> float: ...

    @property
    def span_us(self) -> float: ...


def order_of(numbers: Sequence[int]) -> Iterator[int]:
    """Without end, the input sets of samples in a row: each follows itself and another one. A call may be wrong only on
    the inputs that the call before had, or only on other inputs."""
    yield numbers[-1]
    for number in cycle(numbers):
        yield number
        yield number


def longer_us(samples: Sequence[Timed], others: Sequence[Timed]) -> float:
    """How much longer samples in a row take than the others on their sets, by times that kernels cannot write.

    The median of the last half counts, and of three at least: memory that somebody made ready for several calls is
    used up then. 0 if there is nothing to compare.
    """
    spans: dict[int | None, list[float]] = {}
    for each in others:
        if each.span_us > 0:
            spans.setdefault(each.input_set, []).append(each.span_us)
    longer = [
        each.span_us - _median(spans[each.input_set])
        for each in samples
        if each.span_us > 0 and each.input_set in spans
    ]
    return _median(longer[-max(LEAST, (len(longer) + 1) // 2) :]) if longer else 0.0


def allowed_us(time_us: float) -> float:
    """How much longer a call of this time may take."""
    return max(FLOOR_US, LONGER_SHARE * time_us)


def are_enough(samples: Sequence[Timed], others: Sequence[Timed], is_over: bool) -> bool:
    """Whether no further sample in a row is needed. `others`: empty where times tell nothing; `is_over`: the time for
    them has passed."""
    if not LEAST <= len(samples) < MOST:
        return len(samples) >= MOST
    return is_over and (len(samples) >= AGAIN or not _look_longer(samples, others))


def _look_longer(samples: Sequence[Timed], others: Sequence[Timed]) -> bool:
    return longer_us(samples, others) > allowed_us(_median([each.device_us for each in others] or [0.0]))


def _median(values: Sequence[float]) -> float:
    return quantile(sorted(values), 0.5)
