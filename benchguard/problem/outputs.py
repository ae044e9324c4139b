"""Check a reference's results against the declared outputs of its kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import Output
from .arrays import Array, cast, dtype_of, shape_of
from .c_types import C_TYPES, FLOATS
from .errors import ProblemError
from .spec import ELEMENT_BYTES, Buffer


def outputs_of(value: Any, where: str) -> list[Output]:
    """Shapes and dtypes that get_outputs returned. Raises ProblemError."""
    outputs: list[Output] = []
    try:
        for shape, name in value:
            dtype = C_TYPES[name].dtype if name in C_TYPES else name
            if dtype not in ELEMENT_BYTES:
                raise ProblemError(
                    f"{where}: get_outputs has the dtype {name!r}; give {', '.join(ELEMENT_BYTES)}"
                )
            outputs.append((tuple(int(extent) for extent in shape), dtype))
    except (TypeError, ValueError):
        raise ProblemError(
            f"{where}: get_outputs gave {value!r}; give a list of (shape, dtype), one for each output"
        ) from None
    return outputs


def as_declared(result: Array, buffer: Buffer, where: str) -> Array:
    """Convert integers to the buffer's dtype; floats keep their precision.

    Raises ProblemError for another shape, and for values that the buffer cannot hold.
    """
    what = f"{where}: output {buffer.name} of reference_solution"
    if shape_of(result) != buffer.shape:
        raise ProblemError(
            f"{what} has the shape {list(shape_of(result))}, not {list(buffer.shape)}; return that"
        )
    dtype = dtype_of(result)
    if buffer.dtype in FLOATS:
        return result if dtype in FLOATS else cast(result, "float64")
    if dtype in FLOATS:
        raise ProblemError(f"{what} is {dtype}, its buffer {buffer.dtype}; return whole numbers")
    if dtype != buffer.dtype and 0 not in buffer.shape:
        _check_fits(result, buffer, what)
    return cast(result, buffer.dtype)


def _check_fits(result: Array, buffer: Buffer, what: str) -> None:
    low, high = int(result.min()), int(result.max())
    info = None if buffer.dtype == "bool" else np.iinfo(buffer.dtype)
    least, most = (0, 1) if info is None else (int(info.min), int(info.max))
    if low < least or high > most:
        raise ProblemError(
            f"{what} has values from {low} to {high}, its buffer is {buffer.dtype}; they do not fit"
        )
