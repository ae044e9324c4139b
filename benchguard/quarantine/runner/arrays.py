"""Arrays on the device: our own for submissions without torch, and torch's tensors over the same memory."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from typing import Any

from ...problem.spec import ELEMENT_BYTES, Buffer, DType

_TYPESTR: dict[DType, str] = {
    "float64": "<f8", "float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "float8_e4m3": "|u1",
    "float8_e5m2": "|u1", "int64": "<i8", "int32": "<i4", "int16": "<i2", "int8": "|i1", "uint64": "<u8",
    "uint32": "<u4", "uint16": "<u2", "uint8": "|u1", "bool": "|b1",
}  # fmt: skip
"""__cuda_array_interface__ has no bfloat16 and no float8, so their bits are described as unsigned integers."""

WHEN_TENSORS = (
    "buffers are torch's tensors only if the submission imports torch, and torch finds a GPU, "
    "not the CPU driver"
)

_ML_DTYPES: dict[DType, str] = {
    "bfloat16": "bfloat16",
    "float8_e4m3": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
}


class DeviceArray:
    """A view of device memory. numba, CuPy and torch.as_tensor accept it through `__cuda_array_interface__`.

    `strides` are in bytes, as in numpy; `stride()` is in elements, as in torch; `data_ptr()` is the address.
    """

    is_cuda = True

    def __init__(self, address: int, buffer: Buffer) -> None:
        self._address = address
        self._name = buffer.dtype
        self._steps = buffer.strides if buffer.strides is not None else packed(buffer.shape)
        self._has_gaps = buffer.strides is not None and buffer.strides != packed(buffer.shape)
        self.shape = buffer.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3, without a stream, because all writes are complete."""
        return {
            "data": (self._address if self.size else 0, False),
            "shape": self.shape,
            "strides": self.strides if self._has_gaps else None,
            "typestr": _TYPESTR[self._name],
            "stream": None,
            "version": 3,
        }

    @property
    def kind(self) -> DType:
        return self._name

    def data_ptr(self) -> int:
        return self._address

    @property
    def dtype(self) -> Any:
        """The numpy dtype; that of ml_dtypes for bfloat16 and float8."""
        import numpy as np  # noqa: PLC0415  # not needed by submissions in CUDA C++

        if self._name not in _ML_DTYPES:
            return np.dtype(self._name)
        import ml_dtypes  # noqa: PLC0415  # numpy itself lacks these types

        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[self._name]))

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(step * self.itemsize for step in self._steps)

    def stride(self, axis: int | None = None) -> Any:
        return self._steps if axis is None else self._steps[axis]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def numel(self) -> int:
        return self.size

    @property
    def itemsize(self) -> int:
        return ELEMENT_BYTES[self._name]

    def element_size(self) -> int:
        return self.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'DeviceArray' object has no attribute {name!r}; {WHEN_TENSORS}")

    def __repr__(self) -> str:
        return f"DeviceArray({self._name}, shape={self.shape}, address={self._address:#x})"


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a contiguous row-major array."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


NEED_TORCH = ("triton", "cutlass")
"""Packages that launch kernels through torch or take its tensors, even if the submission does not import torch."""

_NAMES: dict[DType, str] = {"float8_e4m3": "float8_e4m3fn"}


class _Bits:
    """An array's bits as integers, the only types that all versions of torch import."""

    def __init__(self, array: DeviceArray) -> None:
        interface = array.__cuda_array_interface__
        self.__cuda_array_interface__ = {**interface, "typestr": f"<i{array.itemsize}"}


def torch_in_use(wanted: bool = False) -> Any | None:
    """The torch module, if the submission has loaded it or the problem's suite has `wanted` it, and it finds a GPU."""
    torch = sys.modules.get("torch")
    if torch is None and (wanted or any(name in sys.modules for name in NEED_TORCH)):
        try:
            torch = import_module("torch")
        except ImportError:
            return None
    return torch if torch is not None and torch.cuda.is_available() else None


def tensor_of(torch: Any, array: DeviceArray, buffer: Buffer) -> Any:
    """A tensor over the same memory."""
    dtype = getattr(torch, _NAMES.get(buffer.dtype, buffer.dtype))
    if array.size == 0:
        return torch.empty(buffer.shape, dtype=dtype, device="cuda")
    return torch.as_tensor(_Bits(array), device="cuda").view(dtype)


def host_tensor(torch: Any, data: bytearray, buffer: Buffer) -> Any:
    """A tensor over host memory with the buffer's bytes."""
    dtype = getattr(torch, _NAMES.get(buffer.dtype, buffer.dtype))
    if not data:
        return torch.empty(buffer.shape, dtype=dtype)
    flat = torch.frombuffer(data, dtype=torch.uint8).view(dtype)
    return flat.as_strided(buffer.shape, buffer.strides or packed(buffer.shape))


def host_array(data: bytearray, buffer: Buffer) -> Any:
    """The same as an array of numpy, for submissions without torch."""
    import numpy as np  # noqa: PLC0415 - needed for buffers in host memory only

    like = DeviceArray(0, buffer)
    return np.lib.stride_tricks.as_strided(np.frombuffer(data, like.dtype), buffer.shape, like.strides)


def kind_of(tensor: Any) -> str:
    """The tensor's dtype by its name in problem.spec.DType, if it has one there."""
    name = str(tensor.dtype).removeprefix("torch.")
    return next((ours for ours, theirs in _NAMES.items() if theirs == name), name)
