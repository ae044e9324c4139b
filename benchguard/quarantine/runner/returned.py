"""Find the outputs' memory in the value that a call returned, and check its dtype, shape and strides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...problem.spec import ELEMENT_BYTES, Buffer, CaseSpec
from ...region import Memory, interface_of
from .arrays import DeviceArray, kind_of, packed
from .reporting import SubmissionError

_KINDS = {"f": "float", "i": "int", "u": "uint", "b": "bool"}
_WITHOUT_TYPESTR = ("bfloat16", "float8_e4m3", "float8_e5m2")
"""Array libraries describe these dtypes as integers, or as raw bytes."""


@dataclass(frozen=True)
class GpuArray:
    """`kind` is the dtype's name, `strides` are in elements."""

    address: int
    kind: str
    item_bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The bytes from the first to the last element, gaps included."""
        if 0 in self.shape:
            return 0
        reach = sum((extent - 1) * step for extent, step in zip(self.shape, self.strides, strict=True))
        return self.item_bytes * (1 + reach)


def outputs_of(case: CaseSpec, memory: Mapping[str, Memory], returned: object) -> dict[str, Memory]:
    """The memory of each output after a call: the given buffers if the call returned None, or the suite ignores the
    returned value. Raises SubmissionError."""
    outputs = {each.name: memory[each.name] for each in case.checked if each.role == "output"}
    if returned is None or case.ignores_returned:
        return outputs
    for buffer, value in zip(*_paired(case, returned), strict=True):
        array = array_of(buffer.name, value)
        _check(buffer, array)
        if buffer.role == "output":
            shape = buffer.shape if buffer.strides is None else ()
            outputs[buffer.name] = Memory(array.address, buffer.bytes, buffer.dtype, shape)
        elif buffer.bytes and array.address != memory[buffer.name].address:
            raise SubmissionError(
                f"{buffer.name} is updated in place, but the call returned other memory for it; write to the argument"
            )
    _check_apart(case, memory, outputs)
    return outputs


def _paired(case: CaseSpec, returned: object) -> tuple[Sequence[Buffer], Sequence[object]]:
    """Match returned values with buffers: with the outputs, or with the outputs and the buffers updated in place."""
    values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    outputs = [each for each in case.checked if each.role == "output"]
    for buffers in (outputs, case.checked):
        if len(buffers) == len(values):
            return buffers, values
    names = ", ".join(each.name for each in outputs or case.checked)
    raise SubmissionError(
        f"the call returned {len(values)} values; return {names}, or None after writing to the arguments"
    )


def array_of(name: str, value: Any) -> GpuArray:
    if isinstance(value, DeviceArray):
        return GpuArray(value.data_ptr(), value.kind, value.itemsize, value.shape, value.stride())
    if all(hasattr(value, attribute) for attribute in ("data_ptr", "element_size", "stride", "is_cuda")):
        if not value.is_cuda:
            raise on_host(name, value)
        return GpuArray(
            value.data_ptr(), kind_of(value), value.element_size(), tuple(value.shape), tuple(value.stride())
        )
    interface = interface_of(value)
    if isinstance(interface, Mapping):
        return _of_interface(interface)
    if isinstance(value, (bool, int, float, complex)) or hasattr(value, "__array_interface__"):
        raise on_host(name, value)
    raise SubmissionError(
        f"{name} was returned as {_type(value)}; return an array with __cuda_array_interface__"
    )


def on_host(name: str, value: object) -> SubmissionError:
    return SubmissionError(
        f"{name} was returned in host memory, as {_type(value)}, and work of the host cannot be replayed; "
        "compute it on the GPU and return a GPU array",
        unreplayable=True,
    )


def _of_interface(interface: Mapping[str, Any]) -> GpuArray:
    typestr, shape = str(interface["typestr"]), tuple(map(int, interface["shape"]))
    size = int(typestr[2:])
    kind = "bool" if typestr[1] == "b" else f"{_KINDS.get(typestr[1], typestr[1])}{8 * size}"
    steps = interface.get("strides")
    strides = packed(shape) if steps is None else tuple(int(step) // size for step in steps)
    return GpuArray(int(interface["data"][0] or 0), kind, size, shape, strides)


def check_kind(buffer: Buffer, array: GpuArray) -> None:
    """Raises SubmissionError for another dtype or shape than the buffer's."""
    what = f"{buffer.name} was returned"
    if array.kind != buffer.dtype and not is_same_bits(buffer, array):
        raise SubmissionError(f"{what} as {array.kind}; the problem wants {buffer.dtype}")
    if array.shape != buffer.shape:
        raise SubmissionError(f"{what} with shape {array.shape}; the problem wants {buffer.shape}")


def _check(buffer: Buffer, array: GpuArray) -> None:
    check_kind(buffer, array)
    strides = buffer.strides if buffer.strides is not None else packed(buffer.shape)
    fits = all(
        have == want or extent == 1
        for have, want, extent in zip(array.strides, strides, buffer.shape, strict=True)
    )
    if not fits and buffer.bytes:
        how = "row-major order without gaps" if buffer.strides is None else f"strides {strides}"
        raise SubmissionError(
            f"{buffer.name} was returned with strides {array.strides} (in elements); the problem wants {how}"
        )


def is_same_bits(buffer: Buffer, array: GpuArray) -> bool:
    """Whether the array is how a library describes the buffer's dtype, which has no name in the interface."""
    bits = 8 * ELEMENT_BYTES[buffer.dtype]
    return buffer.dtype in _WITHOUT_TYPESTR and array.kind in (f"uint{bits}", f"int{bits}", f"V{bits}")


def _check_apart(case: CaseSpec, input_memory: Mapping[str, Memory], outputs: Mapping[str, Memory]) -> None:
    """Check that no output overlaps another output or an input."""
    read = {each.name: input_memory[each.name] for each in case.read}
    for name, memory in outputs.items():
        for other, place in [*read.items(), *outputs.items()]:
            if other != name and _meet(memory, place):
                raise SubmissionError(f"{name} was returned in the memory of {other}; return separate memory")


def _meet(one: Memory, other: Memory) -> bool:
    if not one.bytes or not other.bytes:
        return False
    return one.address < other.address + other.bytes and other.address < one.address + one.bytes


def _type(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
