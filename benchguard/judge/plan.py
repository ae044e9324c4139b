"""Plan the number of input sets, their distributions, and their memory. Pure.

A case has repeated and one-use input sets (carried.py says why). Both kinds are drawn alike: at least half of each
comes from the problem's own distribution, and the other distributions share the rest.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..ipc.slots import SLOTS_MAX, SlotPlan
from .carried import ONE_USE_WISHED, untestable
from .carried import REPEATED_MIN as REPEATED_MIN_SAMPLES
from .troubles import FaultError

REPEATED_MIN = 2
REPEATED_WISHED = 4
"""With ONE_USE_WISHED, the fewest sets with which the test for caching can tell: 8 of 12 sets are all the slowest in 1
of 495 runs by chance (carried.py). They are made even beyond the limit of a pool, if the machine has the memory."""

SLOTS_MIN = 2

OWN_IN_MEMORY = 2
"""Where one-use sets are streamed, so many repeated sets have the problem's own distribution: outputs are compared with
the answers to other inputs of it (other_inputs.py), and only repeated sets are in memory then."""

ALIKE = frozenset({"uniform", "normal"})
"""Distributions that find the same kernels wrong, mostly."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of one set: of inputs, of expected outputs as the judge keeps them, of outputs in a slot."""

    inputs: int
    expected: int
    outputs: int


def plan(sizes: Sizes, sets_max: int, one_use: int, pool_bytes: int, available: int) -> SlotPlan:
    """Plan as many sets as fit `pool_bytes`, but at least ONE_USE_WISHED and REPEATED_WISHED, if they fit `available`.

    Where memory is shorter still, one-use sets are streamed: drawn one at a time, after the one before was used.
    """
    most = max(sets_max, REPEATED_MIN)
    slots = slot_count(sizes.outputs, pool_bytes)
    in_pool = min(pool_bytes // max(1, sizes.inputs), pool_bytes // max(1, sizes.expected))
    in_memory = (available - SLOTS_MIN * sizes.outputs) // max(1, sizes.inputs + sizes.expected)
    wished = min(most, REPEATED_WISHED) + min(one_use, ONE_USE_WISHED)
    total = min(most + one_use, max(in_pool, min(wished, in_memory), REPEATED_MIN))
    if total == most + one_use:
        return SlotPlan(total, one_use, slots)
    if total < wished and one_use:
        repeated = min(most, REPEATED_WISHED, max(REPEATED_MIN, in_memory - 1))
        once = streamed_count(repeated, one_use)
        return SlotPlan(repeated + once, once, slots, streamed=True)
    repeated = min(most, REPEATED_WISHED if total >= wished else REPEATED_MIN)
    once = min(one_use, total - repeated, max(ONE_USE_WISHED, total // 2))
    return SlotPlan(min(total, most + once), once, slots)


def fewest(plan: SlotPlan) -> SlotPlan:
    """The plan with the fewest sets with which the test for caching can tell; `plan` itself if it has no more."""
    repeated, once = plan.counts
    if plan.streamed or not once:
        return plan
    repeated, once = min(repeated, REPEATED_WISHED), min(once, ONE_USE_WISHED)
    return replace(plan, sets=repeated + once, one_use=once)


def numbers_in(few: SlotPlan, plan: SlotPlan) -> list[int]:
    """The first sets of each kind of `plan`, as many as `few` has. Their numbers are ascending."""
    (repeated, once), first_once = few.counts, plan.counts[0]
    return [*range(repeated), *range(first_once, first_once + once)]


def is_worth_spilling(kept: SlotPlan, spilled: SlotPlan) -> bool:
    """Whether references in float32 allow more sets in memory than in float64. If they are too coarse for one set, all
    sets are made again, so a plan that streams sets does not spill: a later set may be the one."""
    return not spilled.streamed and (kept.streamed or spilled.sets > kept.sets)


def streamed_count(repeated: int, one_use: int) -> int:
    """The least number of one-use sets, from ONE_USE_WISHED to `one_use`, with which the test for caching can tell."""
    counts = range(min(one_use, ONE_USE_WISHED), one_use + 1)
    samples = REPEATED_MIN_SAMPLES
    return next(
        (n for n in counts if not untestable(max(n, ONE_USE_WISHED), samples, n, repeated)), counts[0]
    )


def slot_count(slot_bytes: int, pool_bytes: int) -> int:
    return max(SLOTS_MIN, min(SLOTS_MAX, pool_bytes // 2 // max(1, slot_bytes)))


def spread(
    names: Sequence[str],
    counts: Sequence[int],
    chance: random.Random,
    others_every: int = 2,
    own_least: int = 0,
) -> list[str]:
    """Distributions for `counts` sets of each kind, in random order within a kind.

    The other distributions take turns for one of `others_every` sets; the rest get the first name, the problem's own,
    and at least `own_least` of each kind do. If the others are too many, one of those that are ALIKE is left out.
    """
    others = list(names[1:])
    chance.shuffle(others)
    shares = [min(count // others_every, max(0, count - own_least)) for count in counts]
    if len(others) > sum(shares) and set(others) > ALIKE:
        others.remove(chance.choice(sorted(ALIKE)))
    turn = itertools.cycle(others)
    distributions = []
    for count, share in zip(counts, shares, strict=True):
        rest = [next(turn) for _ in range(share)] if others else []
        choices = [names[0]] * (count - len(rest)) + rest
        chance.shuffle(choices)
        distributions += choices
    return distributions


def least_bytes(sizes: Sizes, one_use: int) -> int:
    """Memory for the fewest sets: the repeated ones, and one of the one-use sets."""
    return _fewest(one_use) * (sizes.inputs + sizes.expected) + SLOTS_MIN * sizes.outputs


def check_room(sizes: Sizes, one_use: int, available: int) -> None:
    """Raises FaultError if even the fewest sets do not fit."""
    need = least_bytes(sizes, one_use)
    if need > available:
        raise FaultError(
            f"{_fewest(one_use)} sets of inputs and outputs need {need / 2**30:.1f} GiB, "
            f"{available / 2**30:.1f} GiB are available; make the case smaller, or use a machine with more memory"
        )


def _fewest(one_use: int) -> int:
    return REPEATED_MIN + min(one_use, 1)
