"""The lane loops are compiled for several processor generations: all must give the same bits, and those of the general
code that runs an instruction without a loop."""

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
UNSIGNED = ["min.u32", "max.u32", "mul.hi.u32"]
FLOATS = [f"{operation}.rn.f{width}" for width in (32, 64) for operation in ("add", "sub", "mul", "div")]
FLOATS += [f"{operation}.ftz.f32" for operation in ("add.rn", "sub.rn", "mul.rn", "div.rn", "min", "max")]
FLOATS += ["min.f32", "max.f32"]
COMPARISONS = [
    f"{comparison}.{kind}"
    for kind in ("s16", "u16", "s32", "u32", "s64", "u64")
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge")
]
COMPARISONS += [
    f"{comparison}.{kind}" for kind in ("u16", "u32", "u64") for comparison in ("lo", "ls", "hi", "hs")
]
COMPARISONS += [
    f"{comparison}.{kind}"
    for kind in ("f32", "ftz.f32", "f64")
    for comparison in (
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "equ",
        "neu",
        "ltu",
        "leu",
        "gtu",
        "geu",
        "num",
        "nan",
    )
]
THREADS = 173  # five full warps and a partial one


@pytest.fixture(scope="module", params=["PTX_PROCESSOR=0", "PTX_PROCESSOR=1", "PTX_GENERAL"])
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    if request.param == "PTX_PROCESSOR=1" and " avx2 " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    return Engine(build(tmp_path_factory.mktemp("lanes"), f"-D{request.param}"))


def numbers(width: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    """Random bits, with the ends of each range."""
    random = np.random.default_rng(seed).integers(0, 2**width, THREADS, f"u{width // 8}")
    ends = [0, 1, 31, 32, 63, 64, 2 ** (width - 1) - 1, 2 ** (width - 1), 2**width - 1]
    random[: len(ends)] = np.roll(np.array(ends, random.dtype), seed)
    with np.errstate(over="ignore"):
        floats = np.array(
            [0.0, -0.0, 1.0, 1.0, np.inf, -np.inf, np.nan, 1e-310, -1e-40, 1e-44, 3e38, 1e-300],
            f"f{width // 8}",
        )
    random[64 : 64 + len(floats)] = np.roll(floats, seed).view(random.dtype)
    random[96 : 96 + len(floats)] = floats.view(random.dtype)
    return random


def check(engine: Engine, other: Engine, body: str, result: str, *widths: int) -> None:
    sources = [numbers(width, seed) for seed, width in enumerate(widths)]
    assert np.array_equal(apply(engine, body, result, *sources), apply(other, body, result, *sources))


@pytest.mark.parametrize("instruction", [*INTEGERS, *UNSIGNED, *FLOATS])
def test_two_source_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b;", f"b{width}", width, width)


@pytest.mark.parametrize("instruction", ["mad.lo.s32", "fma.rn.f32", "fma.rn.ftz.f32", "fma.rn.f64"])
def test_three_source_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b, %c;", f"b{width}", width, width, width)


@pytest.mark.parametrize("instruction", ["shl.b32", "shr.u32", "shr.s32", "shl.b64", "shr.u64", "shr.b64"])
def test_shift_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    width = int(instruction[-2:])
    check(engine, other, f"{instruction} %d, %a, %b;", f"b{width}", width, 32)


@pytest.mark.parametrize(
    "instruction",
    [
        "neg.f32",
        "neg.ftz.f32",
        "abs.f32",
        "abs.ftz.f32",
        "sqrt.rn.f32",
        "sqrt.approx.ftz.f32",
        "rcp.rn.f32",
        "rcp.rn.ftz.f32",
    ],
)
def test_single_source_loops_agree(engine: Engine, other: Engine, instruction: str) -> None:
    check(engine, other, f"{instruction} %d, %a;", "b32", 32)


@pytest.mark.parametrize("sign", ["u", "s"])
def test_wide_product_loops_agree(engine: Engine, other: Engine, sign: str) -> None:
    check(engine, other, f"mul.wide.{sign}32 %d, %a, %b;", "b64", 32, 32)
    check(engine, other, f"mad.wide.{sign}32 %d, %a, %b, %c;", "b64", 32, 32, 64)


CONVERSIONS = [
    "u64.u32",
    "s64.s32",
    "u32.u64",
    "s32.s64",
    "rn.f32.s32",
    "rn.f32.u32",
    "rn.f32.f64",
    "f64.f32",
]
CONVERSIONS += [
    f"{to}.{source}"
    for source in ("u8", "s8", "u16", "s16")
    for to in ("u16", "s16", "u32", "s32", "u64", "s64", "rn.f32")
]
CONVERSIONS += [
    f"{to}.{source}" for source in ("u32", "s32", "u64", "s64") for to in ("u8", "s8", "u16", "s16")
]


@pytest.mark.parametrize("pair", CONVERSIONS)
def test_conversion_loops_agree(engine: Engine, other: Engine, pair: str) -> None:
    """A value of 8 bits is in a register of 16."""
    to, source = pair.removeprefix("rn.").split(".")
    result, width = max(16, int(to[1:])), max(16, int(source[1:]))
    check(engine, other, f"cvt.{pair} %d, %a;", f"b{result}", width)


def test_narrow_conversion_extends_its_register(engine: Engine, other: Engine) -> None:
    """A wider instruction reads the extended value: PTX ISA, "Operand Size Exceeding Instruction-Type Size"."""
    for to in ("s8", "u8", "s16", "u16"):
        body = f".reg .b32 %wide;\ncvt.{to}.s32 %wide, %a;\nmov.b32 %d, %wide;"
        check(engine, other, body, "b32", 32)


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparison_loops_agree(engine: Engine, other: Engine, comparison: str) -> None:
    width = int(comparison[-2:])
    body = f"setp.{comparison} %p1, %a, %b;\nselp.b32 %d, 1, 2, %p1;"
    check(engine, other, body, "b32", width, width)


PRODUCTS = [  # shape, types of d, a, b and c; registers of d, a, b and c
    ("m16n8k16", "f32.f16.f16.f32", (4, 4, 2, 4)),
    ("m16n8k16", "f16.f16.f16.f16", (2, 4, 2, 2)),
    ("m16n8k8", "f32.bf16.bf16.f32", (4, 2, 1, 4)),
    ("m16n8k8", "f32.tf32.tf32.f32", (4, 4, 2, 4)),
    ("m16n8k32", "s32.s8.u8.s32", (4, 4, 2, 4)),
    ("m16n8k32", "s32.s4.u4.s32", (4, 2, 1, 4)),
    ("m16n8k32", "f32.e4m3.e5m2.f32", (4, 4, 2, 4)),
    ("m8n8k4", "f64.f64.f64.f64", (2, 1, 1, 2)),
]


@pytest.mark.parametrize(("shape", "types", "counts"), PRODUCTS)
def test_matrix_product_loops_agree(
    engine: Engine, other: Engine, shape: str, types: str, counts: tuple[int, int, int, int]
) -> None:
    """Registers of random bits, so NaNs and infinities too."""
    wide = 64 if "f64" in types else 32
    text = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
    text += ".reg .b32 %r<4>;\n.reg .b64 %rd<8>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [p0];\n"
    text += "ld.param.u64 %rd1, [p1];\n"
    vectors = []
    for name, count in zip("dabc", counts, strict=True):
        text += f".reg .{'f64' if wide == 64 else 'b32'} %{name}<{count}>;\n"
        vectors.append("{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}")
    position = 0
    for name, count in zip("abc", counts[1:], strict=True):
        for i in range(count):
            text += f"mad.wide.u32 %rd2, %r0, {wide // 8}, {32 * wide // 8 * position};\nadd.u64 %rd2, %rd0, %rd2;\n"
            text += f"ld.global.b{wide} %{name}{i}, [%rd2];\n"
            position += 1
    text += f"mma.sync.aligned.{shape}.row.col.{types} {', '.join(vectors)};\n"
    for i in range(counts[0]):
        text += f"mad.wide.u32 %rd2, %r0, {wide // 8}, {32 * wide // 8 * i};\nadd.u64 %rd2, %rd1, %rd2;\n"
        text += f"st.global.b{wide} [%rd2], %d{i};\n"
    text += "ret;\n}\n"
    random = np.random.default_rng(11)
    source = random.integers(0, 2**wide, (position, 32), f"u{wide // 8}")
    if wide == 32:  # half of the lanes have no NaN in a half or a byte
        source[:, ::2] &= 0x3F3F3F3F
    results = [np.zeros((counts[0], 32), f"u{wide // 8}") for _ in range(2)]
    for each, result in zip((engine, other), results, strict=True):
        assert each.load(text).run("k", [1], [32], source, result).status == "ok"
    assert np.array_equal(*results)
    assert len(np.unique(results[0])) > 8


def test_selection_loop_agrees(engine: Engine, other: Engine) -> None:
    check(engine, other, "setp.lt.s32 %p1, %a, %b;\nselp.b64 %d, %c, 7, %p1;", "b64", 32, 32, 64)


@pytest.mark.parametrize("kind", ["f16", "f16x2", "bf16", "bf16x2"])
@pytest.mark.parametrize("operation", ["add.rn", "sub.rn", "mul.rn", "fma.rn", "min", "max"])
def test_half_loops_agree(engine: Engine, other: Engine, operation: str, kind: str) -> None:
    """Random bits, and numbers near one, whose sums are rounded."""
    width = 32 if kind.endswith("x2") else 16
    count = 3 if operation == "fma.rn" else 2
    random = np.random.default_rng(13)
    sources = [random.integers(0, 2**width, THREADS, f"u{width // 8}") for _ in range(count)]
    for source in sources:
        source[32:128] &= source.dtype.type(0xBFFFBFFF & (2**width - 1))
    body = f"{operation}.{kind} %d, {', '.join(f'%{name}' for name in 'abc'[:count])};"
    results = [apply(each, body, f"b{width}", *sources) for each in (engine, other)]
    assert np.array_equal(*results)
    assert len(np.unique(results[0])) > 60
