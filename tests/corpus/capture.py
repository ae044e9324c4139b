"""Capture the standard output of kernels."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable


def captured(call: Callable[[], None]) -> list[str]:
    """Run a function and return the lines written to standard output, sorted: threads print in any order."""
    _flush()
    saved = os.dup(1)
    with tempfile.TemporaryFile() as stream:
        os.dup2(stream.fileno(), 1)
        try:
            call()
        finally:
            _flush()
            os.dup2(saved, 1)
            os.close(saved)
        stream.seek(0)
        return sorted(stream.read().decode().splitlines())


def _flush() -> None:
    """Flush Python's buffer and the buffer of the C library, which drivers use."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
