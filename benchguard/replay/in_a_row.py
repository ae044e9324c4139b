"""Take samples on the memory that the call before left: how many, and on which input sets. Compare their times with
those of other samples (docs/adr/0057)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Protocol

from .protocol import Sample
from .statistics import quantile

LEAST, MOST = 3, 64
TIME_SHARE = 0.05
"""After LEAST samples, more are taken until MOST, or until this share of the time of the other samples has passed."""

COVER_SHARE, COVER_SECONDS = 0.2, 0.5
"""Until this share and this time have passed, too, if the processes have not used every repeated set yet: a kernel may
do all of its work on some of the sets in every call, and is found on the others."""

BESIDE = 4
AGAIN = 15
PAUSES = (0.0, 0.1, 0.4, 1.0)
"""Seconds before each round. Another process may use the device for longer than rounds without pauses take."""
ROUND = BESIDE + AGAIN + BESIDE
"""Where they take longer, another process may use the device. So they are taken again, between BESIDE samples with
restored memory on either side, until one of the rounds shows no difference. Seen on H200s that several grades
shared: calls of 124 us took 3.8 ms, then 0.7 ms longer, then as long as others (25c05fd9); 15 calls of 194 ms took
12 to 29 ms longer (d661b5af)."""

FLOOR_US = 4.0
LONGER_SHARE = 0.06
"""A call may take so much longer, or this share of its time longer. 104 honest cases ran on H200s that six grades
shared (25c05fd9). 100 of them took at most 2.7 us longer; the others took 4 us of 1.9 ms, 21 us of 8.6 ms, 766 us of
14 ms and 727 us of 124 us (medians of three). One beside six grades took 4.6 us of 86 us longer, 5.3 % (81015904)."""


class Timed(Protocol):
    @property
    def input_set(self) -> int | None: ...

    @property
    def device_us(self) -> float: ...

    @property
    def span_us(self) -> float: ...


@dataclass(frozen=True)
class Share:
    """A process's share of the samples. It has this place among `processes`. They use the input sets `numbers`, and
    have taken other samples for `seconds`."""

    numbers: Sequence[int]
    place: int
    processes: int
    seconds: float

    def is_done(self, count: int, passed: float) -> bool:
        """Whether `count` samples are enough, after `passed` seconds."""
        longest = seconds_of(self.seconds, count, len(self.numbers), self.processes)
        return count >= LEAST and (count == MOST or passed >= longest)


class CallsInARow:
    """Takes the samples of one process. The number `first` of them come before all rounds.

    `follow` tells its engine whether a sample follows the one before, `sample` takes one on an input set, and `rest`
    discards samples for some seconds.
    """

    def __init__(
        self,
        follow: Callable[[bool], None],
        sample: Callable[[int], Sample],
        rest: Callable[[float], object],
        clock: Callable[[], float],
    ) -> None:
        self._follow, self._sample, self._rest, self._clock = follow, sample, rest, clock
        self.samples: list[Sample] = []
        self.first = 0

    def take(self, share: Share, others: Sequence[Sample], on_gpu: bool) -> None:
        """Take the samples, and rounds if they take longer than `others`. Raises EngineError."""
        began = self._clock()
        self._follow(True)
        for number in order_of(share.numbers, share.place, share.processes):
            self.samples.append(self._sample(number))
            self.first = len(self.samples)
            if share.is_done(self.first, self._clock() - began):
                break
        for pause in PAUSES if on_gpu else ():
            if allow(longer_in_rounds_us(self.samples, self.first, others), others):
                break
            if pause:
                self._follow(False)
                self._rest(pause)
            self._round(longest_on(self.samples[: self.first], others, share.numbers))

    def _round(self, numbers: Sequence[int]) -> None:
        """Take samples in a row between others whose memory is restored."""
        beside = list(islice(cycle(numbers), BESIDE))
        again = list(islice(order_of(numbers), AGAIN))
        for follows, part in ((False, beside), (True, again), (False, beside)):
            self._follow(follows)
            for number in part:
                self.samples.append(self._sample(number))


def covering(sets: int, processes: int) -> int:
    """The number of samples in a row of each process with which all of them use every set."""
    return max(LEAST, min(MOST, 1 + 2 * -(-sets // processes)))


def seconds_of(sampling: float, count: int, sets: int, processes: int) -> float:
    """For how many seconds a process takes samples in a row, if it has taken `count`, and all of them have sampled for
    `sampling` seconds."""
    if count >= covering(sets, processes):
        return TIME_SHARE * sampling / processes
    return max(COVER_SHARE * sampling, COVER_SECONDS) / processes


def order_of(numbers: Sequence[int], process: int = 0, processes: int = 1) -> Iterator[int]:
    """Without end, the input sets of samples in a row: each follows itself and another one. A call may be wrong only on
    the inputs that the call before had, or only on other inputs. Each process begins with its part of the sets."""
    start = process * -(-len(numbers) // processes) % len(numbers)
    numbers = (*numbers[start:], *numbers[:start])
    yield numbers[-1]
    for number in cycle(numbers):
        yield number
        yield number


def longer_us(samples: Sequence[Timed], others: Sequence[Timed]) -> float:
    """How much longer samples in a row take than the others on their sets, by times that kernels cannot write.

    The input set on which they take longest counts: a kernel may do all of its work on some sets in every call, and
    less on the others, which then make the median time. 0 if there is nothing to compare.
    """
    return max(_longer_by_set(samples, others).values(), default=0.0)


def longest_on(samples: Sequence[Timed], others: Sequence[Timed], numbers: Sequence[int]) -> list[int]:
    """The two of these sets on which samples in a row take longest."""
    found = _longer_by_set(samples, others)
    return sorted(numbers, key=lambda number: found.get(number, -math.inf), reverse=True)[:2]


def _longer_by_set(samples: Sequence[Timed], others: Sequence[Timed]) -> dict[int | None, float]:
    """How much longer samples in a row take on each set: the median of those in the last half, or of the last three.
    Memory that somebody made ready for several calls is used up then."""
    spans: dict[int | None, list[float]] = {}
    for each in others:
        if each.span_us > 0:
            spans.setdefault(each.input_set, []).append(each.span_us)
    compared = [each for each in samples if each.span_us > 0 and each.input_set in spans]
    found: dict[int | None, list[float]] = {}
    for each in compared[-max(LEAST, (len(compared) + 1) // 2) :]:
        found.setdefault(each.input_set, []).append(each.span_us - _median(spans[each.input_set]))
    return {number: _median(longer) for number, longer in found.items()}


def allowed_us(time_us: float) -> float:
    """How much longer a call of this time may take."""
    return max(FLOOR_US, LONGER_SHARE * time_us)


def longer_in_rounds_us(samples: Sequence[Timed], first: int, others: Sequence[Timed]) -> float:
    """The same where rounds follow the `first` samples: how much longer they take in the round with the least.

    Samples with restored memory must take as long as before the rounds, too: a kernel could do all of its work in each
    call from the first one on that finds memory of another call.
    """
    rounds = [samples[at : at + ROUND] for at in range(first, len(samples) - ROUND + 1, ROUND)]
    if not rounds:
        return longer_us(samples, others)
    return min(_longer_in_round_us(each, others) for each in rounds)


def _longer_in_round_us(samples: Sequence[Timed], others: Sequence[Timed]) -> float:
    beside = (*samples[:BESIDE], *samples[-BESIDE:])
    return max(longer_us(samples[BESIDE:-BESIDE], beside), longer_us(beside, others))


def allow(longer: float, others: Sequence[Timed]) -> bool:
    """Whether calls that take as long as `others` may take so much longer."""
    return longer <= allowed_us(_median([each.device_us for each in others]))


def _median(values: Sequence[float]) -> float:
    return quantile(sorted(values), 0.5)
