"""Mark the region of a program that `neutrino-bench record` captures.

    with benchguard.region("forward", inputs={"x": x}, outputs={"y": y}):
        model(x, out=y)

Memory that is allocated inside the block is named there: benchguard.region_range("y", y, "output").

This module imports only ctypes and the standard library. It calls functions of the shim (hook/core/region/region.h),
which is preloaded into a program that `neutrino-bench record` runs. In other processes a region does nothing.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from .errors import BenchguardError

INPUT, OUTPUT, STATE = 1, 2, 3
"""enum nb_capture_role of hook/core/wire/capture_format.h."""

Role = Literal["input", "output", "state"]
_ROLES: dict[Role, int] = {"input": INPUT, "output": OUTPUT, "state": STATE}

_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex"}


class RegionError(BenchguardError):
    """A region cannot be captured as requested."""


@dataclass(frozen=True)
class Memory:
    """Device memory: address, size in bytes, element type and shape (empty unless the elements are in row-major
    order)."""

    address: int
    bytes: int
    type: str = ""
    shape: tuple[int, ...] = ()


@contextmanager
def region(
    name: str = "region",
    *,
    inputs: Mapping[str, object] | None = None,
    outputs: Mapping[str, object] | None = None,
    state: Mapping[str, object] | None = None,
    required: bool = False,
    memory_after: bool = True,
    memory_of_inputs: bool = True,
) -> Iterator[bool]:
    """Capture the GPU work of this block, if the process runs under `neutrino-bench record`.

    In other processes, and if an option of `record` selects the region, the block runs without being captured.

    Args:
        name: name of the region in the capture.
        inputs: device memory that the region reads, by name. A value is a torch tensor, an object with
            `__cuda_array_interface__`, a pair (device address, size in bytes), or Memory.
        outputs: device memory that the region only writes, by name. A replay fills it with a pattern before each
            sample.
        state: device memory that the region updates in place, by name. A replay restores it before each sample.
        required: raise RegionError if the block is not captured.
        memory_after: store the memory after the region. Without it recording takes less time, and a replay cannot be
            verified.
        memory_of_inputs: store the content of `inputs` and `state` that are allocations of their own. Without it
            each run of a replay needs input sets that have them.

    Returns:
        A context manager whose value is True if the block is captured.

    Raises:
        RegionError: a value is not device memory that this program allocated, regions are nested, or the block is
            required and not captured.
    """
    shim = _shim()
    if shim is None:
        if required:
            raise RegionError(
                f'region "{name}": this process is not recorded, or an option of `record` selects the region; '
                "run it with `neutrino-bench record -o x.ncap -- COMMAND`"
            )
        yield False
        return
    label = f'region "{name}"'
    ranges = [
        (key, role, memory_of(key, value))
        for role, values in ((INPUT, inputs), (OUTPUT, outputs), (STATE, state))
        for key, value in (values or {}).items()
    ]
    given = [] if memory_of_inputs else [memory for _, role, memory in ranges if role != OUTPUT]
    addresses = (ctypes.c_uint64 * len(given))(*(each.address for each in given))
    sizes = (ctypes.c_uint64 * len(given))(*(each.bytes for each in given))
    _check(shim, label, shim.neutrino_region_memory_after(memory_after))
    _check(shim, label, shim.neutrino_region_given(addresses, sizes, len(given)))
    _check(shim, label, shim.neutrino_region_begin(_encoded(name)))
    failed = True
    try:
        for each in ranges:
            _offer(shim, *each)
        yield True
        failed = False
    finally:
        status = shim.neutrino_region_end()
        if not failed:  # otherwise the block's own exception is more important
            _check(shim, label, status)


def region_range(name: str, value: object, role: Role) -> None:
    """Name device memory in the open region: memory that was allocated inside the block.

    Does nothing if the process is not captured.

    Args:
        name: name of the range in the capture.
        value: device memory, as in region().
        role: "input", "output" or "state".

    Raises:
        RegionError: no region is open, the role is invalid, or the value is not device memory that this program has
            allocated.
    """
    if role not in _ROLES:
        raise RegionError(f"{name}: role {role!r} is invalid; give {', '.join(_ROLES)}")
    shim = _shim()
    if shim is not None:
        _offer(shim, name, _ROLES[role], memory_of(name, value))


def memory_of(name: str, value: object) -> Memory:
    """The device memory of a value. Raises RegionError."""
    if isinstance(value, Memory):
        memory = value
    elif isinstance(value, tuple) and len(value) == 2 and all(isinstance(number, int) for number in value):
        memory = Memory(*value)
    elif all(hasattr(value, attribute) for attribute in ("data_ptr", "element_size", "stride", "dtype")):
        memory = _of_tensor(name, value)
    else:
        memory = _of_interface(name, interface_of(value))
    if not (0 <= memory.address < 1 << 64 and 0 <= memory.bytes < 1 << 64):
        raise RegionError(
            f"{name}: {memory.bytes} bytes at {memory.address:#x} is not a valid 64-bit address range"
        )
    return memory


def interface_of(value: Any) -> object:
    """The `__cuda_array_interface__` of a value; None for a value without one.

    torch raises RuntimeError for a tensor that requires grad. Its interface is that of `detach()`, the same memory.
    """
    try:
        return getattr(value, "__cuda_array_interface__", None)
    except RuntimeError:
        if not getattr(value, "requires_grad", False):
            raise
        return getattr(value.detach(), "__cuda_array_interface__", None)


def _of_tensor(name: str, tensor: Any) -> Memory:
    if not getattr(tensor, "is_cuda", False):
        raise RegionError(f"{name}: the tensor is not on a GPU; move it there first")
    size = tensor.element_size()
    shape, strides = tuple(tensor.shape), tuple(size * step for step in tensor.stride())
    return _strided(tensor.data_ptr(), str(tensor.dtype).removeprefix("torch."), size, shape, strides)


def _of_interface(name: str, interface: object) -> Memory:
    if not isinstance(interface, Mapping):
        raise RegionError(
            f"{name}: not device memory; give a GPU tensor, a GPU array, or a pair (address, bytes)"
        )
    typestr, shape = str(interface["typestr"]), tuple(interface["shape"])
    size = int(typestr[2:])
    kind = "bool" if typestr[1] == "b" else f"{_KINDS.get(typestr[1], typestr[1])}{8 * size}"
    return _strided(int(interface["data"][0]), kind, size, shape, interface.get("strides"))


def _strided(
    address: int, kind: str, size: int, shape: tuple[int, ...], strides: tuple[int, ...] | None
) -> Memory:
    """The range from the first to the last element, gaps included."""
    packed = tuple(size * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if 0 in shape:
        return Memory(address, 0, kind, shape)
    if strides is None or all(
        step == dense or extent == 1 for step, dense, extent in zip(strides, packed, shape, strict=True)
    ):
        return Memory(address, size * math.prod(shape), kind, shape)
    reach = [(extent - 1) * step for extent, step in zip(shape, strides, strict=True)]
    below = sum(step for step in reach if step < 0)
    above = sum(step for step in reach if step > 0)
    return Memory(address + below, above - below + size, kind)


def _shim() -> ctypes.CDLL | None:
    """The shim, if it captures the regions that the program marks."""
    if not os.environ.get("NEUTRINO_CAPTURE") or os.environ.get("NEUTRINO_REGION", "program") != "program":
        return None
    shim = ctypes.CDLL(None)
    try:
        shim.neutrino_region_error.restype = ctypes.c_char_p
        shim.neutrino_region_begin.argtypes = [ctypes.c_char_p]
        shim.neutrino_region_memory_after.argtypes = [ctypes.c_int]
        numbers = ctypes.POINTER(ctypes.c_uint64)
        shim.neutrino_region_given.argtypes = [numbers, numbers, ctypes.c_uint32]
        shim.neutrino_region_range.argtypes = [
            ctypes.c_char_p,
            ctypes.c_uint32,
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_uint64),
            ctypes.c_uint32,
        ]
    except AttributeError:
        return None
    return shim


def _offer(shim: ctypes.CDLL, label: str, role: int, memory: Memory) -> None:
    shape = (ctypes.c_uint64 * len(memory.shape))(*memory.shape)
    arguments = (memory.address, memory.bytes, _encoded(memory.type), shape, len(shape))
    _check(shim, f'range "{label}"', shim.neutrino_region_range(_encoded(label), role, *arguments))


def _check(shim: ctypes.CDLL, label: str, status: int) -> None:
    if status != 0:
        raise RegionError(f"{label}: {shim.neutrino_region_error().decode(errors='replace')}")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace").replace(b"\0", b"?")
