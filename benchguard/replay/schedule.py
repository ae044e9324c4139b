"""The input set of each sample.

A kernel that keeps results is faster when an input comes again. So the order is unpredictable, and the last sets are
used once each: their samples show the cost of an input that the kernel sees for the first time.
"""

from __future__ import annotations

from random import Random

from .protocol import NO_SET

EMPTY_FIRST = 8
EMPTY_SHARE = 0.2
"""A sample of an empty kernel precedes each of the first EMPTY_FIRST samples, then this share of the others. If there
are fewer samples, the rest of EMPTY_FIRST follows."""

ONE_USE_WITHIN = 100
"""One-use sets are among this many first timed samples: every stop rule but a count takes at least this many."""


ONE_USE_LEAST = 8
"""One-use sets that are used even if the time for samples is over: the test for carried results needs so many."""


class Schedule:
    """Draws from `sets` input sets. The last `one_use` serve one timed sample each, the others any number."""

    def __init__(self, sets: int, one_use: int, seed: int, in_order: bool = False) -> None:
        """`in_order`: one-use sets come in the order of their numbers."""
        self._random = Random(seed)  # the seed is the OS's, and no other process sees the output
        self._warm_up = Random(seed + 1)  # apart: the number of warm-up samples depends on the machine
        self._empty = Random(seed + 2)
        self._sets, self._pool, self._in_order = sets, sets - one_use, in_order
        self._once: dict[int, int] = {}
        self._planned = self._timed = 0

    def plan(self, samples: int) -> None:
        """Choose the samples on one-use sets. `samples`: the least number of timed samples."""
        one_use = self._sets - self._pool
        places = self._random.sample(
            range(min(samples, ONE_USE_WITHIN)), min(samples, one_use, ONE_USE_WITHIN)
        )
        numbers = self._random.sample(range(self._pool, self._sets), len(places))
        if self._in_order:
            places, numbers = sorted(places), list(range(self._pool, self._pool + len(places)))
        self._once = dict(zip(places, numbers, strict=True))
        self._planned = len(self._once)

    def warm_up(self) -> int:
        """The set of a sample that is not timed; NO_SET without repeated sets."""
        return self._repeated(self._warm_up)

    def empty_is_due(self) -> bool:
        """Whether a sample of an empty kernel precedes the next timed sample. Call it once a sample."""
        return self._empty.random() < EMPTY_SHARE or self._timed < EMPTY_FIRST

    def next(self) -> int:
        """The set of the next timed sample."""
        number = self._once.pop(self._timed, None)
        self._timed += 1
        return self._repeated(self._random) if number is None else number

    def rest(self) -> list[int]:
        """The one-use sets that no sample has used yet, where time is over early; the first ONE_USE_LEAST of all."""
        left = [self._once[place] for place in sorted(self._once)]
        used = self._planned - len(left)
        self._once.clear()
        return left[: max(0, ONE_USE_LEAST - used)]

    def _repeated(self, random: Random) -> int:
        return random.randrange(self._pool) if self._pool else NO_SET
