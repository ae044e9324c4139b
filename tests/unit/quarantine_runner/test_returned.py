"""Valid return values of a call, and messages for invalid ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from benchguard.problem.spec import Buffer, CaseSpec, DType
from benchguard.quarantine.runner.reporting import SubmissionError
from benchguard.quarantine.runner.returned import GpuArray, array_of, outputs_of
from benchguard.region import Memory
from tests.support.tensors import GradTensor, InterfaceOnly

CASE = CaseSpec(
    "case",
    (
        Buffer("x", "float32", (4, 2)),
        Buffer("y", "bfloat16", (4, 2), "output"),
        Buffer("z", "int32", (8,), "inout"),
        Buffer("t", "bool", (2, 2), "output", (1, 2)),
    ),
)
GIVEN = {each.name: Memory(0x1000 * k, each.bytes) for k, each in enumerate(CASE.buffers, 1)}


@dataclass
class Tensor:
    """The attributes of torch.Tensor."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    is_cuda: bool = True

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return {"torch.bfloat16": 2, "torch.int32": 4}.get(self.dtype, 1)

    def stride(self) -> tuple[int, ...]:
        return self.steps


class Array:
    """The attribute that CuPy's arrays have."""

    def __init__(self, address: int, typestr: str, shape: tuple[int, ...], strides: Any = None) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "typestr": typestr,
            "shape": shape,
            "strides": strides,
            "version": 3,
        }


Y = Tensor(0x9000, "torch.bfloat16", (4, 2), (2, 1))
T = Array(0xA000, "|b1", (2, 2), (1, 2))
Z = Array(0x3000, "<i4", (8,))


@pytest.mark.parametrize("kind", [GradTensor, InterfaceOnly])
def test_array_that_requires_grad_found(kind: type[InterfaceOnly]) -> None:
    assert array_of("y", kind(0x9000)) == GpuArray(0x9000, "float32", 4, (8,), (1,))


def test_return_none_keeps_given_outputs() -> None:
    assert outputs_of(CASE, GIVEN, None) == {"y": GIVEN["y"], "t": GIVEN["t"]}


@pytest.mark.parametrize("returned", [(Y, T), [Y, T], (Y, Z, T), (Array(0x9000, "<u2", (4, 2)), T)])
def test_valid_returned_arrays_accepted(returned: object) -> None:
    assert outputs_of(CASE, GIVEN, returned) == {
        "y": Memory(0x9000, 16, "bfloat16", (4, 2)),
        "t": Memory(0xA000, 4, "bool"),
    }


@pytest.mark.parametrize("returned", [None, 7, object(), Y, (Y, Y, Y, Y)])
def test_given_outputs_kept_if_suite_ignores_returned_value(returned: object) -> None:
    case = msgspec.structs.replace(CASE, ignores_returned=True)
    assert outputs_of(case, GIVEN, returned) == {"y": GIVEN["y"], "t": GIVEN["t"]}


def test_strides_of_extent_one_ignored() -> None:
    case = CaseSpec("c", (Buffer("y", "bfloat16", (1, 2), "output"),))
    inputs = {"y": Memory(0x1000, 4)}
    row = Tensor(0x9000, "torch.bfloat16", (1, 2), (77, 1))
    assert outputs_of(case, inputs, row)["y"].address == 0x9000


@pytest.mark.parametrize(
    ("returned", "why", "unreplayable"),
    [
        (Y, "the call returned 1 values; return y, t, or None after writing to the arguments", False),
        ((Y, T, T, T), "the call returned 4 values", False),
        (
            (Tensor(0x9000, "torch.float16", (4, 2), (2, 1)), T),
            "y was returned as float16; the problem wants",
            False,
        ),
        ((Tensor(0x9000, "torch.bfloat16", (2, 4), (4, 1)), T), "y was returned with shape (2, 4)", False),
        (
            (Tensor(0x9000, "torch.bfloat16", (4, 2), (1, 4)), T),
            "the problem wants row-major order without",
            False,
        ),
        ((Y, Array(0xA000, "|b1", (2, 2))), "the problem wants strides (1, 2)", False),
        ((Y, Array(0xA000, "|u1", (2, 2), (1, 2))), "t was returned as uint8; the problem wants bool", False),
        ((Array(0x9000, "<u4", (4, 2)), T), "y was returned as uint32; the problem wants bfloat16", False),
        ((Y, Array(0x900F, "|b1", (2, 2), (1, 2))), "y was returned in the memory of t", False),
        ((Tensor(0x101F, Y.dtype, (4, 2), (2, 1)), T), "y was returned in the memory of x", False),
        ((Tensor(0x2FF1, Y.dtype, (4, 2), (2, 1)), T), "y was returned in the memory of z", False),
        (
            (Y, Array(0x3008, "<i4", (8,)), T),
            "z is updated in place, but the call returned other memory",
            False,
        ),
        ((Tensor(0x9000, Y.dtype, (4, 2), (2, 1), is_cuda=False), T), "y was returned in host memory", True),
        ((1.0, T), "y was returned in host memory, as float", True),
        ((object(), T), "y was returned as object; return an array", False),
    ],
)
def test_invalid_returned_arrays_refused(returned: object, why: str, unreplayable: bool) -> None:
    with pytest.raises(SubmissionError) as excinfo:
        outputs_of(CASE, GIVEN, returned)
    assert why in excinfo.value.text
    assert excinfo.value.unreplayable == unreplayable


@pytest.mark.parametrize(
    ("dtype", "name"), [("float8_e4m3", "torch.float8_e4m3fn"), ("float8_e5m2", "torch.float8_e5m2")]
)
def test_float8_returned_as_bytes_accepted(dtype: DType, name: str) -> None:
    case = CaseSpec("c", (Buffer("y", dtype, (4,), "output"),))
    inputs = {"y": Memory(0x1000, 4)}
    assert outputs_of(case, inputs, Tensor(0x9000, name, (4,), (1,)))["y"].address == 0x9000
    other = "torch.float8_e4m3fnuz"
    with pytest.raises(SubmissionError, match="y was returned as float8_e4m3fnuz"):
        outputs_of(case, inputs, Tensor(0x9000, other, (4,), (1,)))
