"""The numbers of a comparison: one test case, or one pair of captures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

import msgspec

from .comparison import Block, Call
from .turns import Turns

Replays: TypeAlias = tuple[float, float, float, float]
"""A value of each of a block's replays: A, B, B, A."""


class ComparedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test case. `ratio` is time of B / time of A; `blocks` has medians of A, B, B, A in microseconds.

    `ratio95` is a 95 % interval, and a 99 % interval if the result was clear before the last block. Both are of medians
    that are corrected for `launches_us` (launches.py): the time of an empty kernel in each replay, before any code of
    its capture ran; 0 if unknown.
    `one_use_a` and `one_use_b` tell whether a side is timed on its one-use inputs only. `capture_a` and `capture_b` are
    the SHA-256 of the captures that each replay of a side had; the grades `a` and `b` have the same. `samples` were
    timed, and their outputs checked. `clocks_mhz` has the clock of the multiprocessors in each replay, 0 if unknown,
    and `busy` the share of the time that the timed work took; all in the order of `blocks`. `reason` says why the
    clocks of the two sides make the call UNSURE.
    """

    name: str
    call: Call
    ratio: float
    ratio95: tuple[float, float]
    floor: float
    median_a_us: float
    median_b_us: float
    one_use_a: bool
    one_use_b: bool
    capture_a: str
    capture_b: str
    samples: int
    blocks: tuple[Replays, ...]
    clocks_mhz: tuple[Replays, ...]
    busy: tuple[Replays, ...]
    reason: str = ""
    launches_us: tuple[Replays, ...] = ()


def compared_case(name: str, turns: Turns, captures: tuple[str, str]) -> ComparedCase:
    """The result of all replays of two captures, which are given by their SHA-256."""
    blocks = turns.blocks()
    comparison, doubt = turns.compared()
    return ComparedCase(
        name=name,
        call="UNSURE" if doubt else comparison.call,
        ratio=comparison.ratio,
        ratio95=(comparison.low, comparison.high),
        floor=comparison.floor,
        median_a_us=median([time for block in blocks for time in (block.a1, block.a2)]),
        median_b_us=median([time for block in blocks for time in (block.b1, block.b2)]),
        one_use_a=turns.is_one_use(0),
        one_use_b=turns.is_one_use(1),
        capture_a=captures[0],
        capture_b=captures[1],
        samples=turns.samples,
        blocks=_in_order(blocks),
        clocks_mhz=_in_order(turns.clocks_mhz()),
        busy=_in_order(turns.power(lambda power: power.busy)),
        reason=doubt,
        launches_us=_in_order(turns.launches_us()),
    )


def _in_order(blocks: Sequence[Block]) -> tuple[Replays, ...]:
    return tuple((block.a1, block.b1, block.b2, block.a2) for block in blocks)
