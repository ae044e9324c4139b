"""Read the maps of block-times: a schedule of blocks, occupancy over time, the tail. The bytes come from a measured
process, so every value is checked."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from benchguard.errors import UsageError
from benchguard.probe.engines.block_times.build import RECORD

_FIELDS = struct.Struct("<QQII")
_ALL = (1 << 64) - 1


@dataclass(frozen=True)
class BlockTime:
    """A block: its linear index, begin and end in nanoseconds of %globaltimer, and its SM."""

    block: int
    begin: int
    end: int
    sm: int


@dataclass(frozen=True)
class Schedule:
    """The blocks of one launch.

    Attributes:
        blocks: The blocks with possible times, by begin.
        missing: Number of blocks without a begin or an end, for example after a trap.
        impossible: Number of blocks that end before they begin.
    """

    blocks: Sequence[BlockTime]
    missing: int
    impossible: int

    @property
    def begin(self) -> int:
        """The first begin, in nanoseconds; 0 if no block has a time."""
        return min((one.begin for one in self.blocks), default=0)

    @property
    def end(self) -> int:
        """The last end, in nanoseconds; 0 if no block has a time."""
        return max((one.end for one in self.blocks), default=0)

    @property
    def sms(self) -> Sequence[int]:
        """The SMs that ran a block, in order."""
        return sorted({one.sm for one in self.blocks})

    @property
    def tail(self) -> int:
        """Nanoseconds from the moment when an SM has run its last block to the end of the launch."""
        last: dict[int, int] = {}
        for one in self.blocks:
            last[one.sm] = max(last.get(one.sm, 0), one.end)
        return self.end - min(last.values(), default=self.end)

    @property
    def idle_share(self) -> float:
        """The share of SM time without a block between the first begin and the last end, over the SMs that ran one."""
        time = (self.end - self.begin) * len(self.sms)
        if time == 0:
            return 0.0
        busy = 0
        until: dict[int, int] = {}
        for one in self.blocks:
            last = until.get(one.sm, 0)
            busy += max(0, one.end - max(one.begin, last))
            until[one.sm] = max(last, one.end)
        return 1 - busy / time

    def occupancy(self) -> list[tuple[int, int]]:
        """The number of resident blocks from each moment on: pairs of nanoseconds and blocks."""
        changes: dict[int, int] = {}
        for one in self.blocks:
            changes[one.begin] = changes.get(one.begin, 0) + 1
            changes[one.end] = changes.get(one.end, 0) - 1
        steps, resident = [], 0
        for time in sorted(changes):
            resident += changes[time]
            steps.append((time, resident))
        return steps


def read_schedule(data: bytes) -> Schedule:
    """Decode a map.

    Args:
        data: The content of the map, a record for each block.

    Raises:
        UsageError: The size is not a number of records.
    """
    if len(data) % RECORD != 0:
        raise UsageError(f"a map of block-times has {len(data)} bytes, not a multiple of {RECORD}")
    blocks, missing, impossible = [], 0, 0
    for block, (complement, end, sm, zero) in enumerate(_FIELDS.iter_unpack(data)):
        begin = _ALL - complement
        if complement == 0 or end == 0 or sm == 0:
            missing += 1
        elif begin > end or zero != 0:
            impossible += 1
        else:
            blocks.append(BlockTime(block, begin, end, sm - 1))
    return Schedule(sorted(blocks, key=lambda one: (one.begin, one.block)), missing, impossible)
