"""Handle arrays of numpy and of torch alike. torch is used only if the problem has imported it.

numpy's bfloat16 and float8 come from ml_dtypes; between numpy and torch they are converted as integers of their size.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .c_types import FLOATS
from .spec import ELEMENT_BYTES, Buffer, DType, overlaps_itself
from .threads import in_parts
from .transfer import LARGE, from_gpu, to_gpu

PART = 1 << 20
"""Elements that a thread converts at once."""

Array: TypeAlias = Any
Numbers = NDArray[Any]
Bytes = NDArray[np.uint8]

_ML_DTYPES: dict[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
_TORCH_NAMES = {"float8_e4m3": "float8_e4m3fn"}
NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    name: np.dtype(_ML_DTYPES.get(name, name)) for name in ELEMENT_BYTES
}
_BY_NUMPY: dict[np.dtype[Any], DType] = {dtype: name for name, dtype in NUMPY_DTYPES.items()}


def is_torch(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) or is_torch(value)


def on_gpu(array: Array) -> bool:
    return is_torch(array) and array.device.type == "cuda"


def torch_dtype(dtype: DType) -> Any:
    """torch's dtype. Raises AttributeError if this version of torch lacks it."""
    return getattr(sys.modules["torch"], _TORCH_NAMES.get(dtype, dtype))


def dtype_of(array: Array) -> DType:
    """The dtype's name. Raises TypeError for dtypes that buffers cannot have: complex numbers, objects, text."""
    if is_torch(array):
        name = str(array.dtype).removeprefix("torch.")
        name = {torch: ours for ours, torch in _TORCH_NAMES.items()}.get(name, name)
        if name in ELEMENT_BYTES:
            return name
    elif array.dtype in _BY_NUMPY:
        return _BY_NUMPY[array.dtype]
    raise TypeError(f"an array of {array.dtype}; supported are {', '.join(ELEMENT_BYTES)}")


def shape_of(array: Array) -> tuple[int, ...]:
    return tuple(int(extent) for extent in array.shape)


def strides_of(array: Array) -> tuple[int, ...] | None:
    """Strides in elements; None for a contiguous row-major array, and for one that must be copied (see needs_copy)."""
    if is_torch(array):
        if array.is_contiguous():
            return None
        strides = tuple(int(step) for step in array.stride())
    else:
        if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
            return None
        if any(step % array.itemsize for step in array.strides):
            return None
        strides = tuple(step // array.itemsize for step in array.strides)
    shape = shape_of(array)
    if 0 in shape or overlaps_itself(shape, strides):
        return None
    return strides


def to_numpy(array: Array) -> Numbers:
    """The array as numpy's, on the host. It may share memory, unless it is on a GPU, so do not write to it."""
    if not is_torch(array):
        return np.asarray(array)
    dtype = dtype_of(array)
    if on_gpu(array) and array.nbytes >= LARGE:
        torch = sys.modules["torch"]
        flat = array.detach().contiguous().reshape(-1).view(torch.uint8)
        return from_gpu(flat).view(NUMPY_DTYPES[dtype]).reshape(shape_of(array))
    host = array.detach().cpu()
    if dtype not in _ML_DTYPES:
        return np.asarray(host.numpy())
    whole: DType = "uint8" if ELEMENT_BYTES[dtype] == 1 else "int16"
    return np.asarray(host.view(torch_dtype(whole)).numpy().view(NUMPY_DTYPES[dtype]))


def to_torch(array: Array, device: str) -> Array:
    """A new tensor on the device, of the same dtype. torch must have been imported."""
    torch = sys.modules["torch"]
    if is_torch(array):
        return array.detach().to(device, copy=True)
    dtype = dtype_of(array)
    if device != "cpu" and array.nbytes >= LARGE:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return to_gpu(flat, device).view(torch_dtype(dtype)).reshape(shape_of(array))
    numbers = np.array(array, order="C")
    if dtype not in _ML_DTYPES:
        return torch.from_numpy(numbers).to(device)
    whole = np.uint8 if ELEMENT_BYTES[dtype] == 1 else np.int16
    return torch.from_numpy(numbers.view(whole)).view(torch_dtype(dtype)).to(device)


def copied(array: Array, *, wide: bool) -> Array:
    """A writable copy, with floats in float64 if `wide`."""
    if is_torch(array):
        if wide and array.dtype.is_floating_point:
            return array.detach().to(sys.modules["torch"].float64, copy=True)
        return array.detach().clone()
    if wide and dtype_of(array) in FLOATS:
        return np.array(array, np.float64)
    return np.array(array)


def cast(array: Array, dtype: DType) -> Array:
    """The array converted to `dtype`; the array itself if it has that dtype already."""
    if is_torch(array):
        return array.to(torch_dtype(dtype))
    numbers, target = np.asarray(array), NUMPY_DTYPES[dtype]
    if numbers.dtype == target or not numbers.flags.c_contiguous:
        return numbers.astype(target, copy=False)
    found, flat = np.empty(numbers.shape, target), numbers.reshape(-1)

    def convert(start: int) -> None:
        found.reshape(-1)[start : start + PART] = flat[start : start + PART]

    in_parts(convert, flat.size, PART)
    return found


def to_bytes(array: Array, buffer: Buffer) -> Bytes:
    """The bytes of the buffer, with zeros in gaps. Raises ValueError for another shape or dtype."""
    if shape_of(array) != buffer.shape or dtype_of(array) != buffer.dtype:
        raise ValueError(
            f"buffer {buffer.name} is {buffer.dtype}{list(buffer.shape)}, "
            f"this array {dtype_of(array)}{list(shape_of(array))}"
        )
    numbers = to_numpy(array)
    if buffer.strides is None:
        return np.ascontiguousarray(numbers).reshape(-1).view(np.uint8)
    memory = np.zeros(buffer.bytes, np.uint8)
    from_bytes(memory, buffer)[...] = numbers
    return memory


def from_bytes(data: Any, buffer: Buffer) -> Numbers:
    """A view of `data` in the buffer's shape. Raises ValueError unless `data` has `buffer.bytes` bytes."""
    flat = np.frombuffer(data, np.uint8)
    if len(flat) != buffer.bytes:
        raise ValueError(f"buffer {buffer.name} has {buffer.bytes} bytes, not {len(flat)}")
    dtype = NUMPY_DTYPES[buffer.dtype]
    if buffer.strides is None or 0 in buffer.shape:
        return flat.view(dtype).reshape(buffer.shape)
    words = flat.view(f"u{dtype.itemsize}")  # as_strided supports numpy's own dtypes only
    steps = tuple(step * dtype.itemsize for step in buffer.strides)
    writeable = flat.flags.writeable
    return np.lib.stride_tricks.as_strided(words, buffer.shape, steps, writeable=writeable).view(dtype)
