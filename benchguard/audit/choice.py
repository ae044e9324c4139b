"""Which driver calls a log has lines for: `--calls` and `--no-lookups`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..errors import UsageError
from ..shim.surface import Export
from .calls import UNLOADS

_LOOKUPS = ("cuGetProcAddress", "hipGetProcAddress")


@dataclass(frozen=True)
class CallChoice:
    """Calls that succeed get a line only if they are chosen. Launches, images, kernels and failed calls always do."""

    patterns: tuple[str, ...] = ()
    """Shell patterns of names; none: all calls."""
    has_lookups: bool = True
    """Whether lookups of driver functions are chosen."""

    def omitted(self, exports: Sequence[Export]) -> bytes:
        """A byte for each export: 1 if the shim writes no record of its successful calls. Empty: it writes all.

        The supervisor needs the records of unloaded images, and leaves out their lines itself.
        """
        bits = bytes(not self.has(export) and export.name not in UNLOADS for export in exports)
        return bits if any(bits) else b""

    def has(self, export: Export) -> bool:
        if not self.has_lookups and export.base in _LOOKUPS:
            return False
        return not self.patterns or any(_fits(export, pattern) for pattern in self.patterns)

    def check(self, exports: Sequence[Export]) -> None:
        """Raises UsageError for a pattern that fits no call that the shim records."""
        for pattern in self.patterns:
            fitting = [export for export in exports if _fits(export, pattern)]
            if not fitting:
                raise UsageError(
                    f"--calls {pattern}: the driver has no such call; give names of driver calls, as 'cuMem*'"
                )
            if all(export.kind == "pass" for export in fitting):
                raise UsageError(
                    f"--calls {pattern}: {fitting[0].name} is passed through and never logged; leave it out"
                )


def _fits(export: Export, pattern: str) -> bool:
    return fnmatchcase(export.name, pattern) or fnmatchcase(export.base, pattern)


ALL_CALLS = CallChoice()
