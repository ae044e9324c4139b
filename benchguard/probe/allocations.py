"""The table of a process's memory that a launch was given (hook/core/wire/probe.h). Its bytes are hostile."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchguard.audit.layout import PROBE_ROW, PROBE_TABLE, ProbeRowFlag, ProbeTableFlag
from benchguard.errors import UsageError

GRANULE = 2 << 20
"""The driver maps device memory in pieces of this size, which hold nothing else."""


@dataclass(frozen=True)
class Allocation:
    """Memory that kernels may use. `number` counts the allocations of the process, from 1.

    `is_in_flight`: a stream frees it, and may not have done so yet when a launch of another stream runs.
    """

    address: int
    bytes: int
    number: int
    is_host: bool
    is_in_flight: bool

    @property
    def end(self) -> int:
        return self.address + self.bytes


@dataclass(frozen=True)
class Table:
    """`rows` are sorted by address. `missing` counts allocations without a row.

    `is_pageable`: kernels may also use memory that the process has from malloc or mmap.
    """

    rows: Sequence[Allocation]
    missing: int
    is_pageable: bool

    def nearest(self, address: int, size: int) -> Allocation | None:
        """Find the allocation with the smallest gap to an access: the lower one if both gaps are equal."""
        at = bisect_right(self.rows, address, key=lambda each: each.address)
        beside = self.rows[max(0, at - 1) : at + 1]
        return min(
            beside, key=lambda each: max(address - each.end, each.address - address - size), default=None
        )

    def doubt(self, address: int, size: int) -> str:
        """Why an access outside of the rows may still be right; empty if it is wrong."""
        if self.missing:
            return f"the table lacks {self.missing:,} of the process's allocations"
        if not self.is_pageable:
            return ""
        granules = {address // GRANULE, (address + size - 1) // GRANULE}
        device = (each for each in self.rows if not each.is_host)
        if any(granules & {each.address // GRANULE, (each.end - 1) // GRANULE} for each in device):
            return ""
        return "it may be memory that the program has from malloc, which this device can use"


def read_table(data: bytes) -> Table:
    """Read the map of a trace.

    Raises:
        UsageError: It is not a table.
    """
    if len(data) < PROBE_TABLE.size:
        raise UsageError(f"the table of allocations has {len(data)} bytes")
    count, missing, flags = PROBE_TABLE.unpack_from(data)
    if count > (len(data) - PROBE_TABLE.size) // PROBE_ROW.size:
        raise UsageError(f"the table of allocations names {count} rows in {len(data)} bytes")
    end = PROBE_TABLE.size + count * PROBE_ROW.size
    rows = [
        Allocation(at, size, number, bool(marks & ProbeRowFlag.HOST), bool(marks & ProbeRowFlag.IN_FLIGHT))
        for at, size, number, marks in PROBE_ROW.iter_unpack(data[PROBE_TABLE.size : end])
    ]
    for before, after in pairwise(rows):
        if before.end > after.address:
            raise UsageError("the rows of the table of allocations overlap")
    return Table(rows, missing, bool(flags & ProbeTableFlag.PAGEABLE))
