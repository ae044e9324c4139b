"""Conversion of arrays of numpy and torch to a buffer's bytes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.problem import arrays, transfer
from benchguard.problem.arrays import NUMPY_DTYPES
from benchguard.problem.spec import ELEMENT_BYTES, Buffer, DType

DTYPES = st.sampled_from(sorted(ELEMENT_BYTES))
SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@st.composite
def any_array(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], Buffer]:
    """Any bits at all, row-major, transposed or with gaps."""
    dtype: DType = draw(DTYPES)
    shape = draw(SHAPES)
    size = int(np.prod(shape, dtype=int)) * ELEMENT_BYTES[dtype]
    raw = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
    if dtype == "bool":
        raw = raw & 1
    array = raw.view(NUMPY_DTYPES[dtype]).reshape(shape)
    form = draw(st.sampled_from(("packed", "transposed", "gaps")))
    if form == "transposed":
        array = array.transpose()
    elif form == "gaps" and array.ndim:
        array = np.repeat(array, 3, axis=-1)[..., ::3]
    return array, Buffer("b", dtype, array.shape, "input", arrays.strides_of(array))


@given(any_array())
def test_numpy_round_trip_through_bytes(given: tuple[np.ndarray[Any, Any], Buffer]) -> None:
    array, buffer = given
    memory = arrays.to_bytes(array, buffer)
    assert memory.nbytes == buffer.bytes and memory.ndim == 1
    assert arrays.from_bytes(memory, buffer).tobytes() == array.tobytes()
    assert arrays.from_bytes(bytes(memory), buffer).tobytes() == array.tobytes()
    assert arrays.dtype_of(array) == buffer.dtype


@given(any_array())
def test_torch_round_trip_through_bytes(given: tuple[np.ndarray[Any, Any], Buffer]) -> None:
    torch = pytest.importorskip("torch")
    array, buffer = given
    tensor = arrays.to_torch(array, "cpu")
    assert isinstance(tensor, torch.Tensor)
    assert arrays.dtype_of(tensor) == buffer.dtype
    assert arrays.shape_of(tensor) == array.shape
    assert arrays.to_numpy(tensor).tobytes() == array.tobytes()
    packed = Buffer("b", buffer.dtype, buffer.shape)
    assert bytes(arrays.to_bytes(tensor, packed)) == array.tobytes()


def test_tensor_read_without_copy() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3).t()
    assert arrays.strides_of(tensor) == (1, 3)
    buffer = Buffer("b", "bfloat16", (3, 2), "input", (1, 3))
    memory = arrays.to_bytes(tensor, buffer)
    assert memory.view(NUMPY_DTYPES["bfloat16"]).astype(int).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "array",
    [
        np.broadcast_to(np.float32(1), (3, 3)),
        np.arange(9)[::-1],
        np.lib.stride_tricks.as_strided(np.arange(9), (3, 3), (8, 8)),
    ],
    ids=["repeated", "backwards", "overlapping"],
)
def test_overlapping_elements_copied(array: np.ndarray[Any, Any]) -> None:
    assert arrays.strides_of(array) is None
    buffer = Buffer("b", arrays.dtype_of(array), array.shape)
    assert arrays.from_bytes(arrays.to_bytes(array, buffer), buffer).tolist() == array.tolist()


def test_mismatched_array_named() -> None:
    buffer = Buffer("b", "float32", (4,))
    with pytest.raises(ValueError, match=r"buffer b is float32\[4\], this array float64\[4\]"):
        arrays.to_bytes(np.zeros(4), buffer)
    with pytest.raises(ValueError, match="buffer b has 16 bytes, not 15"):
        arrays.from_bytes(bytes(15), buffer)
    with pytest.raises(TypeError, match="complex128"):
        arrays.dtype_of(np.zeros(1, complex))


def test_wide_copy_only_for_floats() -> None:
    half = np.ones(3, NUMPY_DTYPES["bfloat16"])
    assert arrays.copied(half, wide=True).dtype == np.float64
    whole = np.ones(3, np.uint8)
    copy = arrays.copied(whole, wide=True)
    assert copy.dtype == np.uint8 and not np.shares_memory(copy, whole)
    wide = np.ones(3)
    assert not np.shares_memory(arrays.copied(wide, wide=True), wide)


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES])
def test_large_array_round_trip_through_a_gpu(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    size = transfer.LARGE + transfer.STAGE // 8 * 9  # more than one part, the last one smaller
    numbers = np.random.default_rng(1).integers(0, 2, size, np.uint8).view(NUMPY_DTYPES[dtype]).reshape(2, -1)
    numbers.setflags(write=False)
    tensor = arrays.to_torch(numbers, "cuda")
    for array, expected in ((tensor, numbers), (tensor.T, numbers.T)):
        found = arrays.to_numpy(array)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found.view(np.uint8), np.ascontiguousarray(expected).view(np.uint8))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16"])
@pytest.mark.parametrize("shape", [(), (0,), (arrays.PART + 3,), (2, arrays.PART)])
def test_cast_of_any_size_equals_numpys(dtype: DType, shape: tuple[int, ...]) -> None:
    numbers = np.random.default_rng(1).normal(0, 100, shape)
    for array in (np.asarray(numbers), np.asarray(numbers).T):
        found = arrays.cast(array, dtype)
        assert found.dtype == NUMPY_DTYPES[dtype] and found.shape == array.shape
        np.testing.assert_array_equal(found, array.astype(NUMPY_DTYPES[dtype]))
    assert arrays.cast(numbers, "float64") is numbers or shape == ()
