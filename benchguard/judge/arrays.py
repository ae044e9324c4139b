"""A problem's arrays, numpy's or torch's, as the bytes of a set, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..errors import UsageError
from ..problem.spec import Buffer
from .formats import Array, numpy_dtype, stored_dtype
from .shared import Bytes
from .troubles import FaultError

_TORCH_BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
_TORCH_NAMES = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8_e4m3", "float8_e5m2": "float8_e5m2"}


def is_torch(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def to_numpy(value: Any) -> Array:
    """The same elements on the host; torch's bfloat16 and float8 as ml_dtypes'."""
    if not is_torch(value):
        return np.asarray(value)
    tensor = value.detach().cpu()
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _TORCH_BITS:
        return np.asarray(tensor.resolve_conj().numpy())
    import torch  # noqa: PLC0415 - it is loaded, or there would be no tensor

    bits = tensor.contiguous().view(getattr(torch, _TORCH_BITS[name])).numpy()
    return np.asarray(bits.view(numpy_dtype(cast(Any, _TORCH_NAMES[name]))))


def to_bytes(buffer: Buffer, value: Any) -> Bytes:
    """A buffer's memory, zeros in its gaps. Raises FaultError for an array that is not of its shape and dtype."""
    array = to_numpy(value)
    check_shape(buffer, array)
    if array.dtype != numpy_dtype(buffer.dtype):
        raise FaultError(f"{buffer.name} has dtype {array.dtype}; the case says {buffer.dtype}")
    stored = np.ascontiguousarray(array).view(stored_dtype(buffer.dtype))
    if buffer.strides is None:
        return stored.reshape(-1).view(np.uint8)
    memory = np.zeros(buffer.bytes, np.uint8)
    elements_of(buffer, memory)[...] = stored
    return memory


def check_shape(buffer: Buffer, array: Array) -> None:
    if array.shape != buffer.shape:
        raise FaultError(f"{buffer.name} has shape {list(array.shape)}; the case says {list(buffer.shape)}")


def elements_of(buffer: Buffer, memory: Bytes) -> Array:
    """A view of a buffer's memory: its elements as stored, in its shape."""
    flat = memory[: buffer.bytes].view(stored_dtype(buffer.dtype))
    if buffer.strides is None or 0 in buffer.shape:
        return flat.reshape(buffer.shape)
    strides = tuple(step * flat.itemsize for step in buffer.strides)
    return as_strided(flat, buffer.shape, strides, writeable=flat.flags.writeable)


def device_for(wish: str, arrays: Mapping[str, Any]) -> str:
    """Where references are computed: "cuda" if it is asked for, or possible without asking. Raises UsageError."""
    if wish == "cpu" or (wish == "auto" and not any(is_torch(each) for each in arrays.values())):
        return "cpu"
    try:
        import torch  # noqa: PLC0415 - slow, and not every machine has it
    except ImportError:
        there = False
    else:
        there = torch.cuda.is_available()
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False  # it is on unless one says so
    if there:
        return "cuda"
    if wish == "cuda":
        raise UsageError("references cannot be computed on cuda: torch has no device here; ask for cpu")
    return "cpu"


def on_device(arrays: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Tensors there, arrays as they are."""
    return {name: each.to(device) if is_torch(each) else each for name, each in arrays.items()}


def threads() -> int:
    """As many as we may run on; beyond 16, memory is what is waited for."""
    return min(16, len(os.sched_getaffinity(0)))
