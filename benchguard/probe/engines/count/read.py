"""Read the maps of count: executed instructions of a launch by class. The bytes come from a measured process."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from benchguard.errors import UsageError
from benchguard.probe.engines.count.build import COUNTERS, GUARDED_OFF
from benchguard.probe.engines.count.classes import CLASSES


@dataclass(frozen=True)
class Counts:
    """Executed instructions of a launch, one for each thread that executes one.

    Attributes:
        classes: The number of each class.
        guarded_off: Instructions that threads passed because their guard was false. They are in no class.
    """

    classes: dict[str, int]
    guarded_off: int

    @property
    def total(self) -> int:
        """Executed instructions of all classes."""
        return sum(self.classes.values())


def read_counts(data: bytes) -> Counts:
    """Decode a map.

    Raises:
        UsageError: The map has another size.
    """
    if len(data) != 8 * COUNTERS:
        raise UsageError(f"a map of count has {len(data)} bytes, not {8 * COUNTERS}")
    values = struct.unpack(f"<{COUNTERS}Q", data)
    return Counts(dict(zip(CLASSES, values, strict=False)), values[GUARDED_OFF])
