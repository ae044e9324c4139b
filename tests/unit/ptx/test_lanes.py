"""The lane loops are compiled for several processor generations: all must give the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine, build
from tests.unit.ptx.single import apply

INTEGERS = [
    f"{operation}{width}"
    for width in (32, 64)
    for operation in ("add.s", "sub.u", "mul.lo.s", "and.b", "or.b", "xor.b", "min.s", "max.s")
]
FLOATS = [f"{operation}.rn.f{width}" for width in (32, 64) for operation in ("add", "sub", "mul")]
COMPARISONS = [
    f"{comparison}.{kind}"
    for kind in ("s32", "u32", "s64", "u64")
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge")
]
THREADS = 173  # five full warps and a partial one


@pytest.fixture(scope="module", params=["lanes_any", "lanes_avx2"])
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    if request.param == "lanes_avx2" and " avx2 " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    return Engine(build(tmp_path_factory.mktemp("lanes"), f"-DPTX_LANES={request.param}"))


def numbers(width: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    """Random bits, with the ends of each range."""
    random = np.random.default_rng(seed).integers(0, 2**width, THREADS, f"u{width // 8}")
    ends = [0, 1, 31, 32, 63, 64, 2 ** (width - 1) - 1, 2 ** (width - 1), 2**width - 1]
    random[: len(ends)] = np.roll(np.array(ends, random.dtype), seed)
    return random


def check(engine: Engine, other: Engine, body: str, result: str, *widths: int) -> None:
    sources = [numbers(width, seed) for seed, width in enumerate(widths)]
    assert np.array_equal(apply(engine, body, result, *sources), apply(other, body, result, *sources))


@pytest.mark.parametrize("instruction", [*INTEGERS, *FLOATS])
def test_two_source_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b;", f"b{width}", width, width)


@pytest.mark.parametrize("instruction", ["mad.lo.s32", "fma.rn.f32", "fma.rn.f64"])
def test_three_source_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b, %c;", f"b{width}", width, width, width)


@pytest.mark.parametrize("instruction", ["shl.b32", "shr.u32", "shr.s32", "shl.b64"])
def test_shift_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b;", f"b{width}", width, 32)


@pytest.mark.parametrize("sign", ["u", "s"])
def test_wide_product_loops_agree(engine: Engine, other: Engine, sign: str) -> None:
    check(engine, other, f"mul.wide.{sign}32 %d, %a, %b;", "b64", 32, 32)
    check(engine, other, f"mad.wide.{sign}32 %d, %a, %b, %c;", "b64", 32, 32, 64)


@pytest.mark.parametrize("pair", ["u64.u32", "s64.s32", "u32.u64", "s32.s64"])
def test_conversion_loops_agree(engine: Engine, other: Engine, pair: str) -> None:
    to, _, source = pair.partition(".")
    check(engine, other, f"cvt.{pair} %d, %a;", f"b{to[1:]}", int(source[1:]))


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparison_loops_agree(engine: Engine, other: Engine, comparison: str) -> None:
    width = int(comparison[-2:])
    body = f"setp.{comparison} %p1, %a, %b;\nselp.b32 %d, 1, 2, %p1;"
    check(engine, other, body, "b32", width, width)
