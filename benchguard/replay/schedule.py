"""Which input set each sample gets.

A kernel that remembers what it was given is faster when that comes again. So the order cannot be foreseen, and the
last sets are used once each: their samples show what it costs to see an input for the first time.
"""

from __future__ import annotations

from random import Random

from .protocol import NO_SET

ONE_USE_WITHIN = 100
"""One-use sets are among this many first timed samples: every stop rule but a count takes at least this many."""


class Schedule:
    """Of `sets` sets the last `one_use` are for one timed sample each, the others for any number."""

    def __init__(self, sets: int, one_use: int, seed: int, samples: int) -> None:
        """`samples`: how many timed ones there will be at least."""
        self._random = Random(seed)  # the seed is the OS's, and no other process sees the output
        self._pool = sets - one_use
        places = self._random.sample(
            range(min(samples, ONE_USE_WITHIN)), min(samples, one_use, ONE_USE_WITHIN)
        )
        numbers = self._random.sample(range(self._pool, sets), len(places))
        self._once = dict(zip(places, numbers, strict=True))
        self._timed = 0

    def warm_up(self) -> int:
        """The set of a sample that is not timed; NO_SET without any."""
        return self._random.randrange(self._pool) if self._pool else NO_SET

    def next(self) -> int:
        """The set of the next timed sample."""
        number = self._once.get(self._timed)
        self._timed += 1
        return self.warm_up() if number is None else number
