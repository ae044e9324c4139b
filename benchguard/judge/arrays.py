"""A problem's arrays, numpy's or torch's, as the memory of a set, and back."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..ipc.shared_memory import Bytes
from ..problem.arrays import from_bytes, to_bytes
from ..problem.spec import Buffer
from .formats import Array, numpy_dtype, stored_dtype
from .troubles import FaultError

_memcmp = ctypes.CDLL(None).memcmp  # called through ctypes it runs without Python's lock
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_memcmp.restype = ctypes.c_int


def memory_of(buffer: Buffer, value: Any) -> Bytes:
    """A buffer's memory, zeros in its gaps. Raises FaultError for an array that is not of its shape and dtype."""
    try:
        return to_bytes(value, buffer)
    except (ValueError, TypeError, AttributeError) as error:
        raise FaultError(f"{buffer.name} is no array as the case says: {error}") from error


def elements_of(buffer: Buffer, memory: Bytes) -> Array:
    """A view of a buffer's memory: its elements as stored, in its shape."""
    numbers = from_bytes(memory, buffer)
    return np.asarray(numbers.view(stored_dtype(buffer.dtype)))


def as_numbers(buffer: Buffer, stored: Array) -> Array:
    """A view for code of the problem, in its shape, of the dtype that numpy has for it. It may not be written to."""
    view = np.asarray(stored.reshape(buffer.shape).view(numpy_dtype(buffer.dtype)))
    view.setflags(write=False)
    return view


def same_bits(view: Array, copy: Array) -> bool:
    """Of an output's elements and a flat copy; not of what lies in its gaps."""
    if view.size == 0:
        return True
    if view.flags.c_contiguous:
        return bool(_memcmp(view.ctypes.data, copy.ctypes.data, copy.nbytes) == 0)
    bits = f"u{view.dtype.itemsize}"
    return np.array_equal(view.view(bits), copy.view(bits).reshape(view.shape))


def check_shape(buffer: Buffer, array: Array) -> None:
    if array.shape != buffer.shape:
        raise FaultError(f"{buffer.name} has shape {list(array.shape)}; the case says {list(buffer.shape)}")
