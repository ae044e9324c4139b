"""Split the output of an untrusted process into lines, with limits on their length and number."""

from __future__ import annotations

from collections.abc import Callable


class LineError(Exception):
    """An invalid line. The message is shown to the user."""


class LineSplitter:
    """Calls `handle` for each line; `handle` returns whether to continue, or raises LineError.

    Lines longer than `longest` bytes and lines after the first `most` are refused. `trouble` says why splitting
    stopped; it is empty if `handle` stopped it, or if nothing did.
    """

    def __init__(self, handle: Callable[[bytes], bool], longest: int, most: int) -> None:
        self._handle, self._longest, self._most = handle, longest, most
        self._rest = b""
        self._count = 0
        self.trouble = ""

    def feed(self, data: bytes) -> bool:
        """Split `data` and return whether to continue."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for text in lines:
            self._count += 1
            if self._count > self._most:
                self.trouble = f"it wrote more than {self._most} lines"
                return False
            try:
                if not self._handle(text):
                    return False
            except LineError as error:
                self.trouble = str(error)
                return False
        if len(self._rest) > self._longest:
            self.trouble = f"it wrote a line of more than {self._longest} bytes"
            return False
        return True
