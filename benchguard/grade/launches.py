"""Correct medians for the time of a launch, which differs from context to context. Pure functions.

A kernel of 12 us takes up to 6 % longer in one process than in another, because a launch takes longer there
(docs/adr/0064). Each replay measures an empty kernel before any code of its capture runs, so a submission cannot choose
that number. How much longer the medians of a side are after a longer launch is its slope. It is measured from the two
replays of each block that are of one capture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .comparison import Block

EXPLAINED = 1 / 4
"""The medians are corrected if launches explain this share of the variance between replays of one capture."""

NOISE = 3.0
"""Standard deviations. If the mean launches of the sides differ by more, a submission may have caused it."""

Pair = tuple[float, float]


def corrected(blocks: Sequence[Block], launches: Sequence[Block]) -> Sequence[Block]:
    """The medians of replays as they would be at the mean time of a launch.

    Args:
        blocks: medians in us.
        launches: the time of an empty kernel in each of these replays in us; 0: unknown.

    Returns:
        The medians as they are if a launch's time is unknown, does not explain them, or differs between the sides.
    """
    if len(launches) != len(blocks) or any(each <= 0 for block in launches for each in _times(block)):
        return blocks
    medians = [_logarithms(block) for block in blocks]
    sides = [
        [(each.a1 - each.a2, launch.a1 - launch.a2) for each, launch in zip(medians, launches, strict=True)],
        [(each.b1 - each.b2, launch.b1 - launch.b2) for each, launch in zip(medians, launches, strict=True)],
    ]
    a, b = (_slope(pairs) for pairs in sides)
    before = math.fsum(time * time for pairs in sides for time, _ in pairs)
    after = math.fsum(
        (time - slope * launch) ** 2
        for pairs, slope in zip(sides, (a, b), strict=True)
        for time, launch in pairs
    )
    if after > (1 - EXPLAINED) * before or _differ(
        launches, [launch for pairs in sides for _, launch in pairs]
    ):
        return blocks
    middle = math.fsum(each for block in launches for each in _times(block)) / (4 * len(launches))
    return [
        Block(
            a1=block.a1 * math.exp(a * (middle - launch.a1)),
            b1=block.b1 * math.exp(b * (middle - launch.b1)),
            b2=block.b2 * math.exp(b * (middle - launch.b2)),
            a2=block.a2 * math.exp(a * (middle - launch.a2)),
        )
        for block, launch in zip(blocks, launches, strict=True)
    ]


def _times(block: Block) -> tuple[float, float, float, float]:
    return block.a1, block.b1, block.b2, block.a2


def _logarithms(block: Block) -> Block:
    return Block(*map(math.log, _times(block)))


def _slope(pairs: Sequence[Pair]) -> float:
    """The change of a median's logarithm for each us of a launch. It is not negative: that would be chance."""
    launches = math.fsum(launch * launch for _, launch in pairs)
    return max(0.0, math.fsum(time * launch for time, launch in pairs) / launches) if launches > 0 else 0.0


def _differ(launches: Sequence[Block], same: Sequence[float]) -> bool:
    """Whether the mean launches of the sides differ by more than chance explains. `same` has differences between
    replays of one side."""
    mean = math.fsum(each.b1 + each.b2 - each.a1 - each.a2 for each in launches) / (2 * len(launches))
    deviation = math.sqrt(math.fsum(each * each for each in same) / len(same) / 2)
    return abs(mean) > NOISE * deviation / math.sqrt(len(launches))
