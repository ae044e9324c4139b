"""Replay two captures in turn, in blocks A B B A, and keep the samples of each replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..replay.protocol import Overhead
from ..replay.result import SampleRow
from ..replay.statistics import quantile
from .comparison import LOOKS, Block, Comparison, compare_blocks, in_blocks
from .launches import corrected
from .outcome import Outcome
from .power import Power, clock_doubt, power_of
from .timing import believed, carried_doubt, carried_reason, first_use_of, is_one_use_only, scored

ORDER = (0, 1, 1, 0)
"""The side of each replay of a block. Drift of clocks and temperature cancels."""

Turn: TypeAlias = Callable[[int], "Outcome | Replayed"]
"""Replays a side (0 for A, 1 for B), or says why the side does not pass."""


@dataclass(frozen=True)
class Replayed:
    """The samples of a replay, and the time of an empty kernel in its process in us; 0: unknown."""

    table: Sequence[SampleRow]
    launch_us: float = 0.0

    @classmethod
    def of(cls, table: Sequence[SampleRow], overhead: Overhead | None) -> Replayed:
        return cls(table, overhead.empty_kernel_us if overhead is not None else 0.0)


@dataclass(frozen=True)
class Failure:
    """Why a side (0 for A, 1 for B) does not pass."""

    side: int
    outcome: Outcome


@dataclass
class Turns:
    """The replays of one case so far, by side, in the order of the replays: samples, and times of an empty kernel."""

    tables: tuple[list[Sequence[SampleRow]], list[Sequence[SampleRow]]] = field(
        default_factory=lambda: ([], [])
    )
    launches: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    unrestored: tuple[str, str] = ("", "")
    """As in Findings, by side."""
    early: bool = False
    """Whether the result was clear before the last block."""

    @property
    def samples(self) -> int:
        return sum(len(table) for tables in self.tables for table in tables)

    def carried(self) -> Failure | None:
        """The side that keeps results from one sample to the next, if one does.

        All samples of a side are tested at once. A test of each replay would accuse honest kernels more often, and see
        less.
        """
        for side, tables in enumerate(self.tables):
            rows = [row for table in tables for row in table]
            if reason := carried_reason(rows, first_use_of(rows)):
                return Failure(side, Outcome("violation", reason))
        return None

    def is_one_use(self, side: int) -> bool:
        """Whether a side is timed on its one-use inputs only, as a grade of all its samples would be."""
        rows = [row for table in self.tables[side] for row in table]
        return is_one_use_only(rows, self.unrestored[side] or carried_doubt(rows, first_use_of(rows)))

    def power(self, value: Callable[[Power], float]) -> tuple[Block, ...]:
        """A value of the power state, block by block."""
        a, b = ([value(power_of(table)) for table in tables] for tables in self.tables)
        return in_blocks(a, b)

    def blocks(self) -> tuple[Block, ...]:
        """The medians, block by block."""
        one_use = [self.is_one_use(side) for side in (0, 1)]
        a, b = (
            [_median(table, only) for table in tables]
            for tables, only in zip(self.tables, one_use, strict=True)
        )
        return in_blocks(a, b)

    def compared(self) -> tuple[Comparison, str]:
        """The comparison of the blocks so far, and why clocks make it unsure."""
        blocks = corrected(self.blocks(), self.launches_us())
        comparison = compare_blocks(blocks, self.early)
        return comparison, clock_doubt(blocks, self.clocks_mhz(), comparison)

    def launches_us(self) -> tuple[Block, ...]:
        return in_blocks(*self.launches)

    def clocks_mhz(self) -> tuple[Block, ...]:
        return self.power(lambda power: power.clock_mhz)

    def is_clear(self) -> bool:
        comparison, doubt = self.compared()
        return comparison.call != "UNSURE" and not doubt


def take_turns(
    turn: Turn, blocks: int, report: Callable[[int], None], unrestored: tuple[str, str] = ("", "")
) -> Turns | Failure:
    """Replay both sides, 4 times a block, until the result is clear at one of LOOKS, or for `blocks` blocks.

    Ends at the first replay that does not pass.

    `report` is called with the number of each block.
    """
    turns = Turns(unrestored=unrestored, early=True)
    for number in range(blocks):
        if number in LOOKS and turns.is_clear():
            return turns.carried() or turns
        report(number)
        for side in ORDER:
            found = turn(side)
            if isinstance(found, Outcome):
                return Failure(side, Outcome(found.verdict, f"block {number + 1}: {found.reason}"))
            turns.tables[side].append(found.table)
            turns.launches[side].append(found.launch_us)
    turns.early = False
    return turns.carried() or turns


def _median(table: Sequence[SampleRow], one_use: bool) -> float:
    """The median of one replay.

    The tests look at all replays of a side. A kernel that uses cached results in fewer than half of the replays changes
    none of the medians that they compare, but the mean of the replays. So each replay's own one-use samples bound it.
    """
    once = [row for row in table if row.one_use]
    return quantile(sorted(believed(scored(table, one_use), once)), 0.5)
