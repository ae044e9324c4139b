"""Bytes that another process writes to lines, bounded: whoever writes them may be hostile."""

from __future__ import annotations

from collections.abc import Callable


class LineError(Exception):
    """A line that does not belong there. The text is for people."""


class Splitter:
    """Hands each line to `handle`, which says whether to go on or raises LineError.

    No line is longer than `longest` bytes, and there are no more than `most`; `trouble` says what was wrong.
    """

    def __init__(self, handle: Callable[[bytes], bool], longest: int, most: int) -> None:
        self._handle, self._longest, self._most = handle, longest, most
        self._rest = b""
        self._count = 0
        self.trouble = ""

    def feed(self, data: bytes) -> bool:
        """Whether to go on."""
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
