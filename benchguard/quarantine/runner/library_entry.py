"""A submission in CUDA C++ with host code: a function of a library that nvcc made."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from ...problem.spec import Buffer, CaseSpec
from ..contract import Convention
from .case_memory import CaseMemory
from .convention import ordered
from .entry import Call
from .failure import SubmissionError
from .scalars import c_value


class LibraryEntry:
    """Raises SubmissionError if the library cannot be loaded, or does not export the entry."""

    def __init__(self, library: Path, entry: str, file: str, convention: Convention) -> None:
        self._convention = convention
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
