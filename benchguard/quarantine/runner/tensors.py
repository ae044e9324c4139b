"""torch's tensors over our buffers, where the submission uses torch."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from ...problem.spec import Buffer, DType
from .device_array import DeviceArray

NEED_TORCH = ("triton", "cutlass")
"""Whose kernels are launched through torch, or take its tensors, whether the submission imports it or not."""

_NAMES: dict[DType, str] = {"float8_e4m3": "float8_e4m3fn"}


class _Bits:
    """An array's bits as integers, which are the only type that every torch takes from outside."""

    def __init__(self, array: DeviceArray) -> None:
        interface = array.__cuda_array_interface__
        self.__cuda_array_interface__ = {**interface, "typestr": f"<i{array.itemsize}"}


def torch_in_use() -> Any | None:
    """The module, if the submission has loaded it and it finds a GPU."""
    torch = sys.modules.get("torch")
    if torch is None and any(name in sys.modules for name in NEED_TORCH):
        try:
            torch = import_module("torch")
        except ImportError:
            return None
    return torch if torch is not None and torch.cuda.is_available() else None


def tensor_of(torch: Any, array: DeviceArray, buffer: Buffer) -> Any:
    """On the same memory: no copy."""
    dtype = getattr(torch, _NAMES.get(buffer.dtype, buffer.dtype))
    if array.size == 0:
        return torch.empty(buffer.shape, dtype=dtype, device="cuda")
    return torch.as_tensor(_Bits(array), device="cuda").view(dtype)


def kind_of(tensor: Any) -> str:
    """Its dtype, as problem.spec.DType has it where that has one."""
    name = str(tensor.dtype).removeprefix("torch.")
    return next((ours for ours, theirs in _NAMES.items() if theirs == name), name)
