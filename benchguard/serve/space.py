"""The disk space of a service's logs."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from ..audit.parts import parts_of
from .messages import RequestError
from .place import LOG_SUFFIX

LEAST_BYTES = 1 << 16
"""Counted for each log, however short: each one takes a file and a line or two."""
RESCAN_SECONDS = 5.0
_PART = re.compile(r"\.[0-9]+$", re.ASCII)


@dataclass
class Space:
    """Hands out space for logs. Logs that were in the folder before count; files that the user removed do not."""

    folder: Path
    most_bytes: int

    def __post_init__(self) -> None:
        self._used = self._scan()
        self._promised: dict[Path, int] = {}
        self._scanned = time.monotonic()

    def promise(self, log: Path, wanted: int, shares: int = 1) -> int:
        """Bytes for a new log: at most `wanted`, and a fair part if `shares` logs may still come.

        Raises RequestError if no space is left.
        """
        if self._left() < LEAST_BYTES and time.monotonic() - self._scanned > RESCAN_SECONDS:
            self._used, self._scanned = self._scan(), time.monotonic()
        if self._left() < LEAST_BYTES:
            raise RequestError(
                f"the logs of the service take {self.most_bytes} bytes, which is its limit; "
                "remove old ones, or start it with a larger --max-total-bytes"
            )
        self._promised[log] = min(wanted, max(self._left() // shares, LEAST_BYTES))
        return self._promised[log]

    def settle(self, log: Path) -> None:
        """The log has its final size."""
        del self._promised[log]
        self._used += sum(_size(part) for part in parts_of(log))

    def _left(self) -> int:
        return self.most_bytes - self._used - sum(self._promised.values())

    def _scan(self) -> int:
        """The bytes of all files of logs that have ended: users may remove any of them."""
        promised = {path.name for path in getattr(self, "_promised", {})}
        names = ((path, _PART.sub("", path.name)) for path in self.folder.glob(f"*{LOG_SUFFIX}*"))
        return sum(_size(path) for path, name in names if name.endswith(LOG_SUFFIX) and name not in promised)


def _size(file: Path) -> int:
    try:
        return max(file.stat().st_size, LEAST_BYTES)
    except OSError:
        return 0
