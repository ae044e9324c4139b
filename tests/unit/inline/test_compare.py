"""The check on the device says of every element what the judge says."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from benchguard.inline.binding import DTYPES, nesting
from benchguard.judge.compare import compare
from benchguard.judge.formats import FLOATS, is_float, numpy_dtype, stored_dtype
from benchguard.problem.spec import Buffer, CaseSpec, DType, Tolerance
from tests.unit.inline.support import Given, timed

COPY = """
import ctypes
def bind(cuda, number, case, places):
    size = case.buffers[0].bytes
    to, source = ctypes.c_uint64(places["y"]), ctypes.c_uint64(places["x"])
    return lambda: cuda.ask("cuMemcpyDtoDAsync_v2", to, source, ctypes.c_size_t(size), None)
"""
TOLERANCES = (Tolerance(0.0, 0.0), Tolerance(1e-3, 1e-2), Tolerance(3.0, 0.25), Tolerance(1e308, 1e308))


def numbers(dtype: DType, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of all bit patterns, and values near the expected ones or far from them."""
    stored = stored_dtype(dtype)
    bits = random.integers(0, 256, 3000 * stored.itemsize, np.uint8).view(stored)
    if not is_float(dtype):
        near = bits.astype(np.int64) + random.integers(-3, 4, len(bits))
        if dtype == "bool":
            return bits % 3, random.integers(0, 2, len(bits)).astype(stored)
        return bits, np.where(random.random(len(bits)) < 0.5, near.astype(stored), bits)
    with np.errstate(all="ignore"):
        normal = random.standard_normal(1500).astype(numpy_dtype(dtype)).view(stored)
        actual = np.concatenate([bits, normal])
        values = actual.view(numpy_dtype(dtype)).astype(np.float64)
        expected = values * (
            1 + random.standard_normal(len(values)) * 2.0 ** -random.integers(2, 30, len(values))
        )
        largest = FLOATS[dtype].largest
        odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, 1.5 * largest, 1e-320])
        with_odd = np.where(random.random(len(values)) < 0.1, random.choice(odd, len(values)), expected)
    return actual, with_odd


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("expected_dtype", ["float64", "float32", None])
def test_device_comparison_matches_the_judge(tmp_path: Path, expected_dtype: DType | None) -> None:
    """All dtypes at once, a case each: wrong elements are counted, and the count must be the judge's."""
    inputs, targets = [], []
    random = np.random.default_rng(int(os.environ.get("NEUTRINO_TEST_SEED", "7")))
    for dtype in DTYPES:
        shown: DType = expected_dtype if is_float(dtype) and expected_dtype else dtype
        tolerance = TOLERANCES[len(inputs) % len(TOLERANCES)]
        results, counts = [], []
        for _ in range(4):
            actual, expected = numbers(dtype, random)
            with np.errstate(all="ignore"):
                stored = expected.astype(numpy_dtype(shown)) if is_float(dtype) else expected
                numeric = stored.astype(np.float64) if is_float(dtype) else stored
            counts.append(compare(actual, numeric, dtype, tolerance).wrong)
            results.append(({"x": actual}, {"y": stored}))
        n = len(results[0][0]["x"])
        spec = CaseSpec(dtype, (Buffer("x", dtype, (n,)), Buffer("y", dtype, (n,), "output")))
        inputs.append(Given(spec, results, {"y": tolerance}, {"y": shown}))
        targets.append(counts)
    found = timed(tmp_path, COPY, *inputs, samples=3)
    assert found.status == 0, found.errors
    for dtype, result, counts in zip(DTYPES, found.results, targets, strict=True):
        assert not isinstance(result, str), result
        assert sorted(result.errors) == sorted(counts), dtype
    assert sum(map(sum, targets)) > 1000, "the test must see wrong elements"


def test_nesting() -> None:
    assert nesting((3, 4), None) == () == nesting((0, 4), (9, 1))
    assert nesting((3, 4), (4, 1)) == ((4, 1), (3, 4))[::-1]
    assert nesting((3, 4), (1, 3)) == ((4, 3), (3, 1))
    assert nesting((3, 1, 4), (8, 77, 2)) == ((3, 8), (4, 2))
    assert nesting((2, 2), (3, 2)) == ((2, 3), (2, 2))
    assert nesting((3, 2), (2, 3)) is None
    assert nesting((2, 2), (1, 1)) is None
