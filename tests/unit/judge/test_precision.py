"""The precision note: given for emulated arithmetic of lower precisions, not given for real float32."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.judge.formats import FLOATS, FloatFormat, numpy_dtype, rounded, stored_dtype
from benchguard.judge.precision import errors_of, note
from benchguard.problem.spec import DType, Tolerance

LOOSE = Tolerance(1e-6, 1e-2)
TF32 = FloatFormat(11, -126, FLOATS["float32"].largest)
RANDOM = np.random.default_rng(42)


def note_of(
    actual: np.ndarray, expected: np.ndarray, dtype: DType = "float32", honest: np.ndarray | None = None
) -> str:
    def pair(values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        stored = values.reshape(-1).astype(numpy_dtype(dtype)).view(stored_dtype(dtype))
        return [(stored, expected.reshape(-1))]

    baseline = None if honest is None else errors_of(pair(honest), dtype, LOOSE)
    return note("c", dtype, errors_of(pair(actual), dtype, LOOSE), baseline)


def lowered(values: np.ndarray, form: FloatFormat) -> np.ndarray:
    return rounded(values.astype(np.float64), form).astype(np.float32)


def operands(n: int = 128, k: int = 1024) -> tuple[np.ndarray, np.ndarray]:
    return RANDOM.standard_normal((n, k)).astype(np.float32), RANDOM.standard_normal((k, n)).astype(
        np.float32
    )


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("k", [16, 256, 4096])
@pytest.mark.parametrize(
    ("form", "words"),
    [
        (TF32, "tf32 or float16"),
        (FLOATS["float16"], "tf32 or float16"),
        (FLOATS["bfloat16"], "bfloat16"),
        (FLOATS["float8_e4m3"], "float8"),
    ],
)
def test_product_of_rounded_operands_noted(k: int, form: FloatFormat, words: str) -> None:
    a, b = operands(k=k)
    text = note_of(lowered(a, form) @ lowered(b, form), exact(a, b))
    assert f"float32 output has the errors of {words} (" in text


@pytest.mark.parametrize("form", [TF32, FLOATS["bfloat16"]])
def test_single_rounded_operand_noted(form: FloatFormat) -> None:
    a, b = operands()
    assert "has the errors of" in note_of(a @ lowered(b, form), exact(a, b))


@pytest.mark.parametrize("k", [16, 1024, 16384])
def test_float32_product_not_noted(k: int) -> None:
    a, b = operands(32, k)
    assert note_of(a @ b, exact(a, b)) == ""


@pytest.mark.parametrize("sign", ["any", "positive"])
@pytest.mark.parametrize("n", [1 << 10, 1 << 16, 1 << 20])
def test_sequential_sums_not_noted(n: int, sign: str) -> None:
    """One after the other in float32: the worst honest way."""
    rows = 64
    total, whole = np.zeros(rows, np.float32), np.zeros(rows)
    for start in range(0, n, 1 << 12):
        values = RANDOM.standard_normal((rows, min(n, 1 << 12))).astype(np.float32)
        values = np.abs(values) if sign == "positive" else values
        whole += values.astype(np.float64).sum(axis=1)
        values[:, 0] += total  # cumsum goes on from there
        total = np.cumsum(values, axis=1, dtype=np.float32)[:, -1]
        del start
    assert note_of(total, whole) == ""


def test_tree_sums_not_noted() -> None:
    values = RANDOM.standard_normal((256, 1 << 14)).astype(np.float32)
    whole = values.astype(np.float64).sum(axis=1)
    tree = values
    while tree.shape[1] > 1:
        tree = tree[:, ::2] + tree[:, 1::2]
    assert note_of(tree[:, 0], whole) == ""


def test_softmax_and_layernorm_not_noted() -> None:
    x = (4 * RANDOM.standard_normal((64, 1000))).astype(np.float32)
    wide = x.astype(np.float64)

    def softmax(v: np.ndarray) -> np.ndarray:
        e = np.exp(v - v.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def norm(v: np.ndarray) -> np.ndarray:
        return (v - v.mean(axis=1, keepdims=True)) / np.sqrt(
            v.var(axis=1, keepdims=True) + v.dtype.type(1e-5)
        )

    assert note_of(softmax(x), softmax(wide)) == ""
    assert note_of(norm(x), norm(wide)) == ""
    assert "tf32 or float16" in note_of(softmax(x.astype(np.float16)).astype(np.float32), softmax(wide))
    assert "bfloat16" in note_of(norm(lowered(x, FLOATS["bfloat16"])), norm(wide))


@pytest.mark.parametrize("form", [TF32, FLOATS["bfloat16"]])
def test_outputs_on_coarser_grid_noted(form: FloatFormat) -> None:
    x = RANDOM.uniform(1, 2, 5000)
    text = note_of(rounded(x, form).astype(np.float32), x)
    assert "100% of the float32 outputs are exact" in text


def test_expected_values_on_coarser_grid_not_noted() -> None:
    x = RANDOM.integers(-100, 100, 5000).astype(np.float64)
    assert note_of(x, x) == ""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float64"])
def test_correctly_rounded_output_not_noted(dtype: DType) -> None:
    x = RANDOM.uniform(-8, 8, 20000)
    assert note_of(x, x, dtype) == ""


def test_float8_precision_of_float16_output_noted() -> None:
    a, b = operands()
    eight, sixteen = FLOATS["float8_e4m3"], FLOATS["bfloat16"]
    assert "bfloat16 output has the errors of float8" in note_of(
        lowered(a, eight) @ lowered(b, eight), exact(a, b), "bfloat16"
    )
    assert "float16 output has the errors of bfloat16" in note_of(
        lowered(a, sixteen) @ lowered(b, sixteen), exact(a, b), "float16"
    )


def test_float32_precision_of_float64_output_noted() -> None:
    a, b = operands()
    assert "100% of the float64 outputs are exact float32 values" in note_of(a @ b, exact(a, b), "float64")
    wide = a.astype(np.float64) @ b
    noisy = (a @ b).astype(np.float64) * (1 + 2.0**-40)
    assert "float64 output has the errors of float32" in note_of(noisy, wide, "float64")
    assert note_of(wide * (1 + 2.0**-52), wide, "float64") == ""


def test_output_as_good_as_baseline_not_noted() -> None:
    """A variance by E[x^2] - E[x]^2 loses digits in float32 whoever computes it."""
    x = (1000 + RANDOM.standard_normal((200, 4096))).astype(np.float32)
    expected = x.astype(np.float64).var(axis=1)
    bad = (x * x).mean(axis=1, dtype=np.float32) - x.mean(axis=1, dtype=np.float32) ** 2
    assert note_of(bad, expected) != ""
    assert note_of(bad, expected, honest=bad) == ""


def test_few_elements_not_noted() -> None:
    x = RANDOM.uniform(1, 2, 31)
    assert note_of(lowered(x, FLOATS["bfloat16"]), x) == ""
    assert note_of(np.zeros(5000), np.zeros(5000)) == ""


def test_bfloat16_product_of_large_output_noted() -> None:
    a, b = operands(512, 64)
    low = FLOATS["bfloat16"]
    assert "bfloat16" in note_of(lowered(a, low) @ lowered(b, low), exact(a, b))
