"""Which driver calls a log has lines for: `--calls` and `--no-lookups`."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..shim.surface import Export

_LOOKUPS = ("cuGetProcAddress", "hipGetProcAddress")


@dataclass(frozen=True)
class CallChoice:
    """Calls that succeed get a line only if they are chosen. Launches, images, kernels and failed calls always do."""

    patterns: tuple[str, ...] = ()
    """Shell patterns of names; none: all calls."""
    has_lookups: bool = True
    """Whether lookups of driver functions are chosen."""

    def has(self, export: Export) -> bool:
        if not self.has_lookups and export.base in _LOOKUPS:
            return False
        names = {export.name, export.base}
        return not self.patterns or any(
            fnmatchcase(name, pattern) for name in names for pattern in self.patterns
        )


ALL_CALLS = CallChoice()
