"""The engine's C interface as cffi has it ready: parsing it again in every replay would cost 60 ms."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import cffi

from .errors import ShimError

BEGIN, END = "/* cffi: begin */", "/* cffi: end */"


def write_abi(header: Path, output: Path) -> None:
    """A Python module whose `ffi` knows what `header` declares between the marks. Raises ShimError."""
    _, _, rest = header.read_text().partition(BEGIN)
    marked, end, _ = rest.partition(END)
    if not end:
        raise ShimError(f"{header}: has no marks for cffi; the installation is incomplete, install it again")
    ffi = cffi.FFI()
    ffi.set_source("neutrino_replay_abi", None)
    ffi.cdef(marked)
    with contextlib.redirect_stdout(io.StringIO()):  # it says what it writes
        ffi.emit_python_code(str(output))
