"""Convert a problem's arrays, of numpy or torch, to the memory of an input set and back."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ipc.shared_memory import Bytes
from ..problem.arrays import from_bytes, to_bytes
from ..problem.spec import Buffer, CaseSpec
from ..problem.threads import all_parts, in_parts
from .formats import Array, is_float, numpy_dtype, stored_dtype
from .troubles import FaultError

_memcmp = ctypes.CDLL(None).memcmp  # ctypes releases the GIL during the call
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_memcmp.restype = ctypes.c_int

PART = 16 << 20
"""Bytes that a thread compares or copies at once. The replay waits until an output is compared or copied."""


def memory_of(buffer: Buffer, value: Any) -> Bytes:
    """The bytes of a buffer, with zeros in its gaps. Raises FaultError if the array has another shape or dtype."""
    try:
        return to_bytes(value, buffer)
    except (ValueError, TypeError, AttributeError) as error:
        raise FaultError(f"{buffer.name} does not have the case's dtype: {error}") from error


def elements_of(buffer: Buffer, memory: Bytes) -> Array:
    """A view of the elements in a buffer's memory, as stored, in the buffer's shape."""
    numbers = from_bytes(memory, buffer)
    return np.asarray(numbers.view(stored_dtype(buffer.dtype)))


def as_numbers(buffer: Buffer, stored: Array) -> Array:
    """A read-only view for the problem's code, in the buffer's shape and numpy's dtype for it."""
    view = np.asarray(stored.reshape(buffer.shape).view(numpy_dtype(buffer.dtype)))
    view.setflags(write=False)
    return view


def shaped(spec: CaseSpec, flat: Mapping[str, Array]) -> dict[str, Array]:
    """Expected outputs for the problem's code: in the buffers' shapes; floats may be wider than the buffer's dtype."""
    return {
        each.name: flat[each.name].reshape(each.shape)
        if is_float(each.dtype)
        else as_numbers(each, flat[each.name])
        for each in spec.checked
    }


def same_bits(view: Array, copy: Array) -> bool:
    """Whether an output's elements equal a flat copy bit by bit. Gaps are ignored."""
    if view.size == 0:
        return True
    if view.flags.c_contiguous:
        return _same_memory(view.ctypes.data, copy.ctypes.data, copy.nbytes)
    bits = f"u{view.dtype.itemsize}"
    return np.array_equal(view.view(bits), copy.view(bits).reshape(view.shape))


def _same_memory(first: int, second: int, size: int) -> bool:
    return all_parts(
        lambda start: _memcmp(first + start, second + start, min(PART, size - start)) == 0, size, PART
    )


def flat_copy(view: Array) -> Array:
    """The elements in row-major order, in memory of their own."""
    if not view.flags.c_contiguous:
        return np.ravel(view.copy(order="C"))
    source, flat = view.reshape(-1), np.empty(view.size, view.dtype)
    count = max(1, PART // view.itemsize)
    in_parts(lambda at: np.copyto(flat[at : at + count], source[at : at + count]), view.size, count)
    return flat


def check_shape(buffer: Buffer, array: Array) -> None:
    if array.shape != buffer.shape:
        raise FaultError(
            f"{buffer.name} has shape {list(array.shape)}, but the case declares {list(buffer.shape)}"
        )
