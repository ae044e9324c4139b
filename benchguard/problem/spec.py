"""The specification of a test case as data, which is sent between processes, unlike the problem's code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .tree import Node

DType = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
]  # fmt: skip
"""Names of NumPy and torch. float8_e4m3 is torch.float8_e4m3fn, which has no infinities and one NaN."""

ELEMENT_BYTES: dict[DType, int] = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3": 1, "float8_e5m2": 1,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1,
}  # fmt: skip

Role = Literal["input", "output", "inout", "constant", "scratch"]
"""`inout` is updated in place: it begins as an input and is checked as an output. `constant` is an input that the
problem declares equal in all calls; it is the same in all input sets. `scratch` is memory without content: a call may
write to it and return it, or ignore it."""

Name: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Extent: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 40)]


class Buffer(msgspec.Struct, frozen=True, tag_field="kind", tag="buffer"):
    """Memory. `strides` are in elements; None: contiguous row-major. An extent of 0 means no bytes.

    It is device memory, except where the suite's own harness gives a constant in host memory (`on_host`).
    """

    name: Name
    dtype: DType
    shape: Annotated[tuple[Extent, ...], Meta(max_length=16)]
    role: Role = "input"
    strides: Annotated[tuple[Extent, ...], Meta(max_length=16)] | None = None
    on_host: bool = False

    @property
    def elements(self) -> int:
        """The number of elements that fit in the memory, including the gaps of strides."""
        if 0 in self.shape:
            return 0
        if self.strides is None:
            return math.prod(self.shape)
        return 1 + sum((extent - 1) * step for extent, step in zip(self.shape, self.strides, strict=True))

    @property
    def bytes(self) -> int:
        return self.elements * ELEMENT_BYTES[self.dtype]

    @property
    def is_read(self) -> bool:
        return self.role not in ("output", "scratch")

    @property
    def is_checked(self) -> bool:
        return self.role in ("output", "inout")


class Scalar(msgspec.Struct, frozen=True, tag_field="kind", tag="scalar"):
    """A number passed by value. `ctype` is C's name: float, double, int, size_t, uint32_t, uint64_t, uint8_t, …"""

    name: Name
    ctype: Name
    value: int | float


Argument: TypeAlias = Buffer | Scalar


class Form(msgspec.Struct, frozen=True):
    """Where the elements of a result are: in the buffer `buffer`, from the byte `offset` on."""

    buffer: Name
    dtype: DType
    shape: Annotated[tuple[Extent, ...], Meta(max_length=16)]
    strides: Annotated[tuple[Extent, ...], Meta(max_length=16)] | None = None
    offset: Annotated[int, Meta(ge=0, le=1 << 48)] = 0

    @property
    def view(self) -> Buffer:
        """The elements as a buffer of their own."""
        return Buffer(self.buffer, self.dtype, self.shape, "output", self.strides)


class FunctionCall(msgspec.Struct, frozen=True):
    """A call of one of the submission's functions with the values of `arguments`; empty `function`: the entry."""

    arguments: tuple[Node, ...]
    function: Annotated[str, Meta(max_length=200)] = ""


class Returned(msgspec.Struct, frozen=True):
    """The values that a submission's calls returned.

    `tree` is their structure, a tuple for several calls; `results` has the place of each of its tensors, in order, and
    `memory` the bytes of each buffer that is neither an input nor scratch.
    """

    tree: Node
    results: Annotated[tuple[Form, ...], Meta(max_length=64)]
    memory: dict[Name, Annotated[int, Meta(ge=0, le=1 << 48)]] = {}


NO_SEED = "its inputs are equal for all seeds, so a stored result would pass"
"""The note of a suite's case that has one input set only. Its references are equal, too."""


class CaseSpec(msgspec.Struct, frozen=True):
    """One test case. `arguments` are in the order of the call.

    `flops` and `moved_bytes` are of one call of an ideal implementation; None: unknown. A case whose submissions choose
    the memory of their results has `returns`, the structure of the reference's result. Its buffers of the role "output"
    are "result0", "result1", ..., one for each tensor of `returns`. A case of the convention `data` has `calls`, too.
    """

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    arguments: Annotated[tuple[Argument, ...], Meta(max_length=128)]
    params: dict[str, str] = {}
    flops: int | None = None
    moved_bytes: int | None = None
    calls: tuple[FunctionCall, ...] = ()
    returns: Returned | None = None
    exact: bool = False
    """Whether results have the dtypes and shapes of the reference's. Memory and strides are the submission's choice."""
    ignores_returned: bool = False
    """Whether outputs are in the given buffers, whatever a call returns. The suite's own harness ignores it, too."""
    unseeded: tuple[Name, ...] = ()
    """Inputs that are equal for all seeds, though the problem does not declare them constant."""
    notes: tuple[str, ...] = ()
    """Facts about the problem that a reader of the verdict should know."""

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(each for each in self.arguments if isinstance(each, Buffer))

    @property
    def read(self) -> tuple[Buffer, ...]:
        return tuple(each for each in self.buffers if each.is_read)

    @property
    def checked(self) -> tuple[Buffer, ...]:
        return tuple(each for each in self.buffers if each.is_checked)


class Outline(CaseSpec, frozen=True):
    """A specification as far as shapes tell. `lengths` has the content of arrays that pass a shape."""

    lengths: dict[Name, tuple[int, ...]] = {}


class Tolerance(msgspec.Struct, frozen=True):
    """How far an output may be from the reference: `|actual - expected| <= atol + rtol * |expected|`.

    This is numpy.allclose's meaning. docs/grading.md has the rules for NaN, infinities and integers.

    Attributes:
        atol: absolute tolerance, in the output's own unit.
        rtol: relative tolerance, a share of the expected value.
    """

    atol: float = 0.0
    rtol: float = 0.0


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a stride is negative, or two elements may share memory."""
    reach = 0
    for step, extent in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += step * (extent - 1)
    return False


ALIGNMENT = 256
"""Alignment of buffers within a set, in bytes."""


class Layout(msgspec.Struct, frozen=True):
    """Offsets of buffers in shared memory: a buffer of set n is at n * stride + places[name][0]."""

    places: dict[str, tuple[int, int]]
    stride: int

    def place(self, name: str, number: int) -> tuple[int, int]:
        """Offset and size of a buffer of set `number`."""
        offset, size = self.places[name]
        return number * self.stride + offset, size


def layout_of(buffers: tuple[Buffer, ...]) -> Layout:
    places, offset = {}, 0
    for each in buffers:
        places[each.name] = (offset, each.bytes)
        offset += -(-each.bytes // ALIGNMENT) * ALIGNMENT
    return Layout(places, max(offset, ALIGNMENT))
