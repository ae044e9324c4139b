"""Decide whether B is faster than A, from medians of replays in blocks A B B A. Pure functions.

Two replays of one capture differ by 0.2 to 2.6 % on an H200 (placement of memory, clocks), because each is a new
process. So one observation is a block, not a sample: drift cancels within a block, and its two replays of the same
submission measure the noise floor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import UsageError
from .options import BLOCKS_MIN

Call = Literal["FASTER", "SLOWER", "SAME", "UNSURE"]
"""The second submission against the first."""

SAME_WITHIN = 0.005
"""Differences below this share are ignored, even if significant."""

SAME_AT_MOST = 0.01
"""SAME means that the whole 95 % interval lies within this share."""

LOOKS = (3, 4, 6, 9, 13, 20, 30)
"""Numbers of blocks after which a comparison may end early, with a 99 % interval. Looks at all numbers would be more
often wrong, and end little earlier."""

# Student's t by degrees of freedom from 1 (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2): 97.5 %, for an
# interval of 95 %, and 99.5 %, for one of 99 %.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_T99 = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
    3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
    2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
)  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A number of each of four replays, such as the median in microseconds, in the order of the replays."""

    a1: float
    b1: float
    b2: float
    a2: float


@dataclass(frozen=True)
class Comparison:
    """`ratio` is time of B / time of A, with its interval: 95 %, or 99 % for an early end. `floor` is the noise floor:
    the median difference between two replays of one submission, as a share of the time."""

    call: Call
    ratio: float
    low: float
    high: float
    floor: float
    blocks: int


def in_blocks(a: Sequence[float], b: Sequence[float]) -> tuple[Block, ...]:
    """A number of each replay of A and of B, in the order of the replays, by block."""
    return tuple(Block(a[first], b[first], b[first + 1], a[first + 1]) for first in range(0, len(a), 2))


def compare_blocks(blocks: Sequence[Block], early: bool = False) -> Comparison:
    """Compare medians; `early`: more blocks may follow. Raises UsageError for fewer than BLOCKS_MIN blocks, or a median
    of 0."""
    if len(blocks) < BLOCKS_MIN:
        raise UsageError(f"{len(blocks)} blocks are too few; give at least {BLOCKS_MIN}")
    if any(time <= 0 for block in blocks for time in (block.a1, block.b1, block.b2, block.a2)):
        raise UsageError("cannot compare a median of 0 us: the work is shorter than the resolution of events")
    logs = [0.5 * math.log(block.b1 * block.b2 / (block.a1 * block.a2)) for block in blocks]
    mean, half = mean_interval(logs, early)
    same = sorted(
        abs(math.log(pair)) for block in blocks for pair in (block.a1 / block.a2, block.b1 / block.b2)
    )
    floor = math.expm1(same[len(same) // 2])
    low, high = math.exp(mean - half), math.exp(mean + half)
    return Comparison(
        _call(low, high, max(SAME_WITHIN, floor)), math.exp(mean), low, high, floor, len(blocks)
    )


def mean_interval(values: Sequence[float], early: bool = False) -> tuple[float, float]:
    """The mean of at least two values, and the half width of its interval: of 95 %, or 99 % if `early`."""
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
    student = _T99 if early else _T95
    return mean, student[min(len(values) - 1, len(student)) - 1] * spread / math.sqrt(len(values))


def _call(low: float, high: float, margin: float) -> Call:
    """FASTER or SLOWER only if the whole interval lies beyond the margin."""
    if high < 1 / (1 + margin):
        return "FASTER"
    if low > 1 + margin:
        return "SLOWER"
    if low >= 1 / (1 + SAME_AT_MOST) and high <= 1 + SAME_AT_MOST:
        return "SAME"
    return "UNSURE"


def overall(calls: Sequence[Call]) -> Call:
    """The call over several cases: SLOWER if one is, else UNSURE if one is, else FASTER if one is, else SAME."""
    if "SLOWER" in calls:
        return "SLOWER"
    if "UNSURE" in calls:
        return "UNSURE"
    return "FASTER" if "FASTER" in calls else "SAME"
