"""Kernels compiled by nvcc, compared with numpy in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.corpus.families import for_target
from tests.unit.ptx.engine import Engine, Module

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="module", params=[75, 80, 90])
def module(engine: Engine, request: pytest.FixtureRequest) -> Module:
    return engine.load(for_target((KERNELS / "kernels.ptx").read_text(), request.param))


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


def test_grey_conversion_matches_float64(module: Module, random: np.random.Generator) -> None:
    """Three bytes become one float; the bound is two float32 roundings."""
    rgb = random.integers(0, 256, (1000, 3), dtype=np.uint8)
    out = np.zeros(1000, np.float32)
    assert module.run("grey", [4], [256], rgb, out, np.int32(1000)).status == "ok"
    np.testing.assert_allclose(out, rgb @ np.array([0.299, 0.587, 0.114]), rtol=3e-7)


def test_saxpy_matches_float64(module: Module, random: np.random.Generator) -> None:
    x, y = random.random((2, 5000)).astype(np.float32)
    expected = (np.float64(np.float32(2.5)) * x + y).astype(np.float32)
    assert module.run("saxpy", [3], [96], y, x, np.float32(2.5), np.int32(5000)).status == "ok"
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("n", [16, 50])
def test_tiled_matmul_matches_float64(module: Module, random: np.random.Generator, n: int) -> None:
    """Tiles in shared memory, barriers in a loop, partial tiles."""
    a, b = random.random((2, n, n)).astype(np.float32)
    c = np.zeros((n, n), np.float32)
    blocks = -(-n // 16)
    assert module.run("matmul", [blocks, blocks], [16, 16], a, b, c, np.int32(n)).status == "ok"
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=n * 1e-7)


def test_reduction_matches_float64(module: Module, random: np.random.Generator) -> None:
    """Shuffles, shared partial sums and a float atomic."""
    x, out = random.random(10000).astype(np.float32), np.zeros(1, np.float32)
    assert module.run("reduce", [7], [256], x, out, np.int32(10000)).status == "ok"
    np.testing.assert_allclose(out[0], x.sum(dtype=np.float64), rtol=1e-5)


def test_softmax_matches_float64(module: Module, random: np.random.Generator) -> None:
    """Dynamic shared memory, and ex2.approx within the ISA's bound."""
    x = random.normal(size=(9, 200)).astype(np.float32) * 4
    y = np.zeros_like(x)
    assert module.run("softmax", [9], [32], x, y, np.int32(200), shared=800).status == "ok"
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=2e-6, atol=1e-9)


def test_atomic_histogram_counts_are_exact(module: Module, random: np.random.Generator) -> None:
    """Integer atomics on shared and global memory from several host threads."""
    x, bins = random.integers(0, 2**32, 20000, dtype=np.uint32), np.zeros(64, np.uint32)
    assert module.run("histogram", [11], [128], x, bins, np.int32(20000), workers=4).status == "ok"
    np.testing.assert_array_equal(bins, np.bincount(x % 64, minlength=64))


def diverged(i: int) -> int:
    value = sum(k * 2 if k % 3 == 0 else -k if k % 3 == 1 else 5 for k in range(i % 7))
    return [value + 100, value * 3, value - 7, value ^ 0x55, -value][i % 5]


def test_divergent_lanes_compute_own_results(module: Module) -> None:
    """Loops of different length, a switch and early returns."""
    out = np.zeros(300, np.int32)
    assert module.run("diverge", [3], [128], out, np.int32(300)).status == "ok"
    assert out.tolist() == [diverged(i) for i in range(300)]


def test_recursive_function_returns_per_lane(module: Module) -> None:
    """A .func that calls itself twice, to a different depth in each lane."""
    out = np.zeros(64, np.int32)
    assert module.run("recurse", [1], [64], out).status == "ok"
    assert out[:12].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert out.tolist() == [out[i % 12] for i in range(64)]


def test_double_operations_are_correctly_rounded(module: Module, random: np.random.Generator) -> None:
    """Initialised .global and .const variables; fma, div and sqrt of doubles are correctly rounded."""
    x, y = random.normal(size=500), np.zeros(500)
    assert module.run("polynomial", [2], [256], x, y, np.int32(500)).status == "ok"
    expected = (((3 * x + 0.125) * x - 2.25) * x + 1.5) / (1 + x * x) * 2 + np.sqrt(x * x + 1)
    np.testing.assert_allclose(y, expected, rtol=4e-15, atol=1e-14)


def test_integer_operations_are_exact(module: Module, random: np.random.Generator) -> None:
    """Division, high halves, bits, bytes, shifts: exact."""
    a, b = random.integers(-(2**31), 2**31, (2, 400)).astype(np.int32)
    a[:6], b[:6] = [0, -1, 7, -7, 5, -(2**31)], [0, 0, -2, 2, 31, 1]
    out = np.zeros((400, 12), np.int32)
    assert module.run("integers", [2], [256], a, b, out, np.int32(400)).status == "ok"
    assert out.tolist() == [expected_integers(int(x), int(y)) for x, y in zip(a, b, strict=True)]


def s32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def expected_integers(x: int, y: int) -> list[int]:
    u, v = x % 2**32, y % 2**32
    quotient = 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    wide = [(u >> 8 * i) & 255 for i in range(4)] + [(v >> 8 * i) & 255 for i in range(4)]
    byte = (y & 255) - 256 if y & 128 else y & 255
    short = (x & 65535) - 65536 if x & 32768 else x & 65535
    clz = 32 - u.bit_length()
    return [
        s32(quotient),
        0 if y == 0 else s32(x - quotient * y),
        0 if v == 0 else s32(u // v),
        s32((x * y) >> 32),
        s32((u * v) >> 32),
        s32(u.bit_count() + clz * 100 + int(f"{u:032b}"[::-1], 2) % 97),
        s32(sum(wide[n] << 8 * i for i, n in enumerate([3, 6, 1, 4]))),
        s32((x * y) >> 7),
        s32((((v << 32) | u) << 9) >> 32),
        s32(min(x, y) - max(x, y)),
        s32(s32(x << (y & 15)) ^ (x >> (y & 31)) ^ (u >> (v & 31))),
        s32(short * byte + (x & 255)),
    ]


def test_structure_parameter_is_read_at_its_offsets(module: Module) -> None:
    """A struct with padding between other parameters, read through its offsets."""
    packed = np.array([1, 2, 3, 4], np.float32).tobytes() + b"\x05" + bytes(15)
    out = np.zeros(4)
    outcome = module.run("structures", [1], [4], packed, out, np.int8(-3).tobytes(), np.int16(300).tobytes())
    assert outcome.status == "ok", outcome.why
    assert out.tolist() == [1 + 4 * 5 - 3 + 300] * 4


def test_endless_kernel_times_out(module: Module) -> None:
    outcome = module.run("spin", [1], [32], np.zeros(1, np.int32), timeout=0.2)
    assert outcome.status == "timeout"


def test_access_outside_memory_faults_with_line(module: Module) -> None:
    outcome = module.run("outside", [1], [1], np.zeros(1, np.int32))
    assert outcome.status == "illegal address"
    assert "line" in outcome.why
