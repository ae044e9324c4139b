"""Loads and stores of a warp whose addresses are in a line, equal, or scattered: all must move the same elements."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine
from tests.unit.ptx.single import HEAD

LANES = 32
TYPES = {
    "u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32, "s32": np.int32,
    "b64": np.uint64,
}  # fmt: skip
STEPS = {"line": "%r1", "equal": "3", "scattered": "%r2", "backwards": "%r3"}
"""The element that a lane accesses, as an operand."""


def kernel(kind: str, count: int, step: str, space: str) -> str:
    """Copy `count` elements a lane from p0 to p1, as 64-bit words. For shared memory, p0 is copied there first."""
    bytes_each = np.dtype(TYPES[kind]).itemsize * count
    names = [f"%v{i}" for i in range(count)]
    elements = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    vector = "" if count == 1 else f".v{count}"
    register = {"8": "16", "6": "16", "2": "32", "4": "64"}[kind[-1]]
    text = HEAD + f".shared .align 16 .b8 tile[{LANES * bytes_each}];\n"
    text += ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += f".reg .b{register} %v<4>;\n.reg .b8 %c;\n"
    text += "mov.u32 %r1, %tid.x;\nxor.b32 %r2, %r1, 5;\nsub.u32 %r3, 31, %r1;\nld.param.u64 %rd0, [p0];\n"
    text += "ld.param.u64 %rd1, [p1];\n"
    if space == "global":
        text += "mov.u64 %rd2, %rd0;\n"
    else:
        text += "mov.u64 %rd2, tile;\n" + ("cvta.shared.u64 %rd2, %rd2;\n" if space == "generic" else "")
        text += "mov.u64 %rd5, tile;\n"
        for i in range(bytes_each):
            text += f"mad.wide.u32 %rd3, %r1, {bytes_each}, {i};\nadd.u64 %rd4, %rd0, %rd3;\nld.global.u8 %c, [%rd4];\n"
            text += "add.u64 %rd4, %rd5, %rd3;\nst.shared.u8 [%rd4], %c;\n"
        text += "bar.sync 0;\n"
    text += f"mov.u32 %r4, {STEPS[step]};\nmad.wide.u32 %rd3, %r4, {bytes_each}, %rd2;\n"
    where = "" if space == "generic" else f".{space}"
    text += f"ld{where}{vector}.{kind} {elements}, [%rd3];\n"
    text += f"mad.wide.u32 %rd3, %r1, {8 * count}, %rd1;\n"
    for i, name in enumerate(names):
        if register == "64":
            text += f"st.global.b64 [%rd3+{8 * i}], {name};\n"
        else:
            text += (
                f"cvt.{kind[0]}64.{kind[0]}{register} %rd4, {name};\nst.global.b64 [%rd3+{8 * i}], %rd4;\n"
            )
    return text + "ret;\n}\n"


@pytest.mark.parametrize("space", ["global", "shared", "generic"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", TYPES)
def test_loads_extend_each_lanes_element(
    engine: Engine, kind: str, count: int, step: str, space: str
) -> None:
    source = (
        np.random.default_rng(5)
        .integers(0, 256, LANES * count * 8, np.uint8)
        .view(TYPES[kind])[: LANES * count]
    )
    result = np.zeros((LANES, count), np.int64)
    outcome = engine.load(kernel(kind, count, step, space)).run("k", [1], [LANES], source, result)
    assert outcome.status == "ok", outcome.why
    lanes = np.arange(LANES)
    chosen = {"line": lanes, "equal": np.full(LANES, 3), "scattered": lanes ^ 5, "backwards": 31 - lanes}[
        step
    ]
    expected = source.reshape(LANES, count)[chosen]
    assert np.array_equal(result, expected.astype(np.int64))


def stores(kind: str, count: int, step: str) -> str:
    names = [f"%v{i}" for i in range(count)]
    elements = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    register = {"8": "16", "6": "16", "2": "32", "4": "64"}[kind[-1]]
    text = HEAD + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += f".reg .b{register} %v<4>;\n"
    text += "mov.u32 %r1, %tid.x;\nxor.b32 %r2, %r1, 5;\nsub.u32 %r3, 31, %r1;\nld.param.u64 %rd0, [p0];\n"
    for i, name in enumerate(names):
        text += f"mad.lo.u32 %r5, %r1, 7, {i + 1};\ncvt.u{register}.u32 {name}, %r5;\n"
    size = np.dtype(TYPES[kind]).itemsize * count
    text += f"mov.u32 %r4, {STEPS[step]};\nmad.wide.u32 %rd3, %r4, {size}, %rd0;\n"
    return text + f"st.global{'' if count == 1 else f'.v{count}'}.{kind} [%rd3], {elements};\nret;\n}}\n"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        (kind, count)
        for kind in ("u8", "u16", "u32", "b64")
        for count in (1, 2, 4)
        if (kind, count) != ("b64", 4)
    ],
)
def test_stores_write_each_lanes_element(engine: Engine, kind: str, count: int, step: str) -> None:
    """The last lane's value stays at an address that several lanes write."""
    result = np.zeros((LANES, count), TYPES[kind])
    outcome = engine.load(stores(kind, count, step)).run("k", [1], [LANES], result)
    assert outcome.status == "ok", outcome.why
    lanes = np.arange(LANES)
    chosen = {"line": lanes, "equal": np.full(LANES, 3), "scattered": lanes ^ 5, "backwards": 31 - lanes}[
        step
    ]
    expected = np.zeros_like(result)
    for lane in lanes:
        expected[chosen[lane]] = (lane * 7 + 1 + np.arange(count)).astype(TYPES[kind])
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("access", ["ld.global.u32 %r4, [%rd1];", "st.global.u32 [%rd1], %r1;"])
@pytest.mark.parametrize(("elements", "step"), [(31, "%r1"), (2, "3")])
def test_access_behind_memory_is_fault_of_its_lane(
    engine: Engine, access: str, elements: int, step: str
) -> None:
    """The last lane of a line, and all lanes of equal addresses."""
    text = HEAD + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += f"mov.u32 %r1, %tid.x;\nmov.u32 %r2, {step};\nld.param.u64 %rd0, [p0];\n"
    text += f"mad.wide.u32 %rd1, %r2, 4, %rd0;\n{access}\nret;\n}}\n"
    memory = np.zeros(elements, np.uint32)
    outcome = engine.load(text).run("k", [1], [LANES], memory)
    assert outcome.status == "illegal address"
    assert f"({memory.ctypes.data + 4 * (31 if elements == 31 else 3):#x})" in outcome.why


def test_misaligned_line_is_fault(engine: Engine) -> None:
    text = HEAD + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += "mov.u32 %r1, %tid.x;\nld.param.u64 %rd0, [p0];\nmad.wide.u32 %rd1, %r1, 4, %rd0;\n"
    text += "ld.global.u32 %r4, [%rd1+2];\nret;\n}\n"
    assert engine.load(text).run("k", [1], [LANES], np.zeros(40, np.uint32)).status == "misaligned"
