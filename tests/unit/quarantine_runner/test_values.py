"""Arguments of a call: scalars, arrays, and their order by convention."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from benchguard.problem.spec import Buffer, CaseSpec, DType, Scalar
from benchguard.quarantine.runner.arrays import DeviceArray
from benchguard.quarantine.runner.entry import c_value, constants, ordered, python_value
from benchguard.quarantine.runner.reporting import SubmissionError
from benchguard.region import Memory, memory_of


@pytest.mark.parametrize(
    ("ctype", "value", "kind", "python"),
    [
        ("float", 2, ctypes.c_float, 2.0),
        ("double", 0.5, ctypes.c_double, 0.5),
        ("int", 7.0, ctypes.c_int, 7),
        ("size_t", 1 << 40, ctypes.c_size_t, 1 << 40),
        ("uint8_t", 255, ctypes.c_uint8, 255),
        ("int64_t", -1, ctypes.c_int64, -1),
        ("uint32_t", 5, ctypes.c_uint32, 5),
        ("bool", 1, ctypes.c_bool, True),
    ],
)
def test_scalars_converted_to_c_and_python(ctype: str, value: float, kind: Any, python: object) -> None:
    scalar = Scalar("s", ctype, value)
    assert type(c_value(scalar)) is kind
    assert c_value(scalar).value == kind(python).value
    assert python_value(scalar) == python
    assert type(python_value(scalar)) is type(python)


def test_half_scalar_converted_to_bits() -> None:
    assert c_value(Scalar("s", "float16", 1.5)).value == np.float16(1.5).view(np.uint16)
    assert python_value(Scalar("s", "float16", 1.5)) == 1.5


def test_unknown_scalar_type_refused() -> None:
    with pytest.raises(SubmissionError, match="scalar s has the unknown C type quad"):
        c_value(Scalar("s", "quad", 1))


@pytest.mark.parametrize(
    ("dtype", "typestr", "wanted"),
    [
        ("float32", "<f4", np.float32),
        ("uint64", "<u8", np.uint64),
        ("bool", "|b1", np.bool_),
        ("bfloat16", "<u2", ml_dtypes.bfloat16),
        ("float8_e4m3", "|u1", ml_dtypes.float8_e4m3fn),
        ("float8_e5m2", "|u1", ml_dtypes.float8_e5m2),
    ],
)
def test_device_array_attributes(dtype: DType, typestr: str, wanted: Any) -> None:
    array = DeviceArray(0x1000, Buffer("a", dtype, (2, 3)))
    size = np.dtype(wanted).itemsize
    interface = array.__cuda_array_interface__
    assert interface["typestr"] == typestr
    assert np.dtype(typestr).itemsize == array.itemsize == array.element_size() == size
    assert interface["data"] == (0x1000, False)
    assert interface["strides"] is None
    assert array.dtype == wanted
    assert (array.size, array.nbytes, array.ndim, len(array)) == (6, 6 * size, 2, 2)
    assert array.strides == np.empty((2, 3), wanted).strides
    assert (array.stride(), array.stride(0)) == ((3, 1), 3)
    assert memory_of("a", array) == Memory(0x1000, 6 * size, str(np.dtype(wanted)), (2, 3))


def test_device_array_with_gaps_and_empty() -> None:
    array = DeviceArray(0x1000, Buffer("a", "float32", (2, 3), strides=(1, 4)))
    assert array.__cuda_array_interface__["strides"] == array.strides == (4, 16)
    assert array.size == 6
    assert DeviceArray(0x1000, Buffer("a", "int8", (0,))).__cuda_array_interface__["data"] == (0, False)


def test_argument_order_by_convention() -> None:
    arguments = (
        Buffer("x", "float32", (2,)),
        Buffer("y", "float32", (2,), "output"),
        Buffer("w", "float32", (2,), "constant"),
        Buffer("z", "float32", (2,), "inout"),
        Scalar("n", "int", 2),
    )
    case = CaseSpec("c", arguments)
    names = {
        convention: [each.name for each in ordered(case, convention)]  # type: ignore[arg-type]
        for convention in ("arguments", "output_first", "tuple", "module")
    }
    assert names == {
        "arguments": ["x", "y", "w", "z", "n"],
        "output_first": ["y", "x", "w", "z", "n"],
        "tuple": ["x", "w", "z", "n", "y"],
        "module": ["x", "z", "n"],
    }
    assert [each.name for each in constants(case)] == ["w"]


def test_attribute_of_torchs_tensors_is_refused_with_the_reason() -> None:
    array = DeviceArray(0x7000, Buffer("x", "float32", (2, 3)))
    assert not hasattr(array, "__array_interface__")
    with pytest.raises(AttributeError, match="no attribute 'device'; buffers are torch's tensors only if"):
        _ = array.device
