"""A submission that is a kernel alone: the launch is ours, and the whole of what a call does."""

from __future__ import annotations

import ctypes

from ...problem.spec import Buffer, CaseSpec
from ..contract import Convention
from .case_memory import CaseMemory
from .convention import ordered
from .driver import Driver
from .entry import Call
from .failure import SubmissionError
from .launch_shape import shape_of
from .scalars import c_value


class KernelEntry:
    def __init__(
        self, driver: Driver, ptx: bytes, name: str, file: str, directive: str | None, convention: Convention
    ) -> None:
        self._driver, self._directive, self._convention = driver, directive, convention
        self._name, self._file = name, file
        self._module = driver.load(ptx if ptx.endswith(b"\0") else ptx + b"\0", file)
        self._function = driver.function(self._module, name)

    def bind(self, case: CaseSpec, memory: CaseMemory) -> Call:
        driver, function = self._driver, self._function
        arguments = ordered(case, self._convention)
        values = [
            ctypes.c_uint64(memory.arrays[each.name].data_ptr())
            if isinstance(each, Buffer)
            else c_value(each)
            for each in arguments
        ]
        self._check(values, ", ".join(each.name for each in arguments))
        shape = shape_of(self._directive, case)
        driver.allow_shared(function, shape.shared)

        def call() -> None:
            driver.launch(function, shape.grid, shape.block, shape.shared, values)

        return call

    def _check(self, values: list[ctypes._SimpleCData[int]], names: str) -> None:
        """The driver reads as many values as the kernel has parameters, whatever it is given."""
        wanted = self._driver.parameter_bytes(self._function)
        given = [ctypes.sizeof(each) for each in values]
        if wanted is None or wanted == given:
            return
        what = f"kernel {self._name} of {self._file}"
        if len(wanted) != len(given):
            raise SubmissionError(
                f"{what} has {len(wanted)} parameters; the problem gives {len(given)}: {names}"
            )
        raise SubmissionError(f"{what} has parameters of {wanted} bytes; the problem gives {given}: {names}")
