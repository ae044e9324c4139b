"""The call of a comparison that may end early, as take_turns() makes it, from medians instead of replays."""

from __future__ import annotations

from collections.abc import Sequence

from benchguard.grade.comparison import LOOKS, Block, compare_blocks
from benchguard.grade.launches import corrected


def call_of(times: Sequence[Block], launches: Sequence[Block] = ()) -> str:
    """The call after at most as many blocks as `times` has; without `launches` the medians are not corrected."""
    for count in (each for each in LOOKS if each < len(times)):
        early = compare_blocks(corrected(times[:count], launches[:count]), early=True).call
        if early != "UNSURE":
            return early
    return compare_blocks(corrected(times, launches)).call
