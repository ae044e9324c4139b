"""A submission in CUDA C++ with host code: a function of a library that nvcc made."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...problem.spec import Buffer, CaseSpec
from ..contract import Convention
from .case_memory import CaseMemory
from .convention import ordered
from .entry import Call
from .failure import SubmissionError
from .scalars import c_value

RUNTIME = "libcudart.so.13"


class LibraryEntry:
    """Raises SubmissionError if the library cannot be loaded, or does not export the entry."""

    def __init__(self, library: Path, entry: str, file: str, convention: Convention) -> None:
        self._convention = convention
        _load_runtime()
        try:
            loaded = ctypes.CDLL(str(library))
        except OSError as error:
            said = str(error).removeprefix(f"{library}: ")
            raise SubmissionError(f"{file} was compiled and cannot be loaded: {said}") from error
        try:
            self._function: Any = loaded[entry]
        except AttributeError as error:
            raise SubmissionError(
                f'{file} exports no {entry}; write extern "C" void {entry}(...), as the starter code has it'
            ) from error
        self._function.restype = None

    def bind(self, case: CaseSpec, memory: CaseMemory) -> Call:
        function = self._function
        values = [
            ctypes.c_void_p(memory.arrays[each.name].data_ptr())
            if isinstance(each, Buffer)
            else c_value(each)
            for each in ordered(case, self._convention)
        ]
        return lambda: function(*values)


def _load_runtime() -> None:
    """The CPU driver has a CUDA runtime of its own beside it: loaded first, it is the one that libraries find."""
    driver = os.environ.get("NEUTRINO_DRIVER")
    if not driver:
        return
    with suppress(
        OSError
    ):  # none is there, as beside a GPU's driver: the library says itself where its own is
        ctypes.CDLL(str(Path(driver).with_name(RUNTIME)))
