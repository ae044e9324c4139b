"""The device memory of one case. All calls get the same buffers at the same addresses."""

from __future__ import annotations

import ctypes
import mmap

from ...problem.spec import CaseSpec, Layout
from ...region import Memory
from .arrays import DeviceArray
from .driver import Driver
from .reporting import SubmissionError

POISON = 0xFF
"""Byte value of outputs before a call: NaN as a float, -1 as a signed integer."""

LARGE = 1 << 28
"""Bytes of an input that warm-up calls do not get again: to copy it takes longer than most calls."""


class CaseMemory:
    """`arrays` by name. Each buffer has its own allocation. Raises SubmissionError if memory runs out."""

    def __init__(
        self,
        driver: Driver,
        case: CaseSpec,
        inputs: Inputs,
        tensors: bool = False,
    ) -> None:
        """`tensors`: submissions in Python get torch's tensors, whether or not they import torch."""
        self.tensors = tensors
        self._driver, self._case = driver, case
        self._inputs = inputs
        self._addresses: dict[str, int] = {}
        self._number: int | None = None
        for buffer in case.read:
            if inputs.bytes_of(buffer.name) != buffer.bytes:
                raise SubmissionError(
                    f"the throw-away inputs lack {buffer.name}; this is a bug in benchguard"
                )
        try:
            for buffer in case.buffers:
                self._addresses[buffer.name] = driver.allocate(buffer.bytes)
        except SubmissionError as failure:
            self.release()
            total = sum(buffer.bytes for buffer in case.buffers)
            raise SubmissionError(
                f"the device has no room for the case's {total} bytes: {failure.text}"
            ) from failure
        self.arrays = {each.name: DeviceArray(self._addresses[each.name], each) for each in case.buffers}

    def prepare(self, number: int, *, warm_up: bool = False) -> None:
        """Write input set `number` to inputs and poison to outputs, and wait for the device.

        A warm-up call gets large inputs as the call before left them. Its outputs are not looked at.
        """
        are_kept = warm_up and number == self._number
        self._number = number
        self._driver.make_current()
        self._driver.synchronise()
        for buffer in self._case.buffers:
            address = self._addresses[buffer.name]
            if are_kept and buffer.role == "input" and buffer.bytes >= LARGE:
                continue
            if buffer.is_read:
                source, size = self._inputs.address(buffer.name, number)
                self._driver.write(address, source, size)
            else:
                self._driver.fill(address, POISON, buffer.bytes)
        self._driver.synchronise()

    def memory_of(self, name: str) -> Memory:
        """The memory of a buffer, for a named range of the region."""
        (buffer,) = (each for each in self._case.buffers if each.name == name)
        shape = buffer.shape if buffer.strides is None else ()
        return Memory(self._addresses[name], buffer.bytes, buffer.dtype, shape)

    def on_host(self, name: str) -> bytearray:
        """The bytes of a buffer of the current input set."""
        address, size = self._inputs.address(name, self._number or 0)
        return bytearray(ctypes.string_at(address, size))

    def release(self) -> None:
        """Free the memory, so that the captures of later cases do not contain it."""
        for address in self._addresses.values():
            self._driver.free(address)
        self._addresses.clear()


class Inputs:
    """The throw-away sets of a case, which the judge wrote to shared memory. Set 0 begins at `offset`."""

    def __init__(self, memory: mmap.mmap | None, layout: Layout, offset: int) -> None:
        self._memory, self._layout, self._offset = memory, layout, offset

    def bytes_of(self, name: str) -> int | None:
        """The size of a buffer; None if the sets do not have it."""
        return self._layout.places[name][1] if name in self._layout.places else None

    def address(self, name: str, number: int) -> tuple[int, int]:
        """Address and size of a buffer of set `number`."""
        place, size = self._layout.place(name, number)
        if self._memory is None or self._offset + place + size > len(self._memory):
            raise SubmissionError(
                f"the throw-away inputs end before set {number} of {name}; this is a bug in benchguard"
            )
        return ctypes.addressof(ctypes.c_char.from_buffer(self._memory)) + self._offset + place, size
