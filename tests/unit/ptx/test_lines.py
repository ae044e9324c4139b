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
STEPS = {
    "line": "%r1", "equal": "3", "scattered": "%r2", "backwards": "%r3", "two lines": "%r6", "two values": "%r7",
}  # fmt: skip
"""The element that a lane accesses, as an operand."""
ELEMENTS = """mov.u32 %r1, %tid.x;
xor.b32 %r2, %r1, 5;
sub.u32 %r3, 31, %r1;
setp.lt.u32 %p1, %r1, 16;
add.u32 %r6, %r1, 9;
@!%p1 sub.u32 %r6, %r1, 14;
selp.u32 %r7, 7, 20, %p1;
"""


def elements_of(step: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The element that each lane accesses."""
    lanes = np.arange(LANES)
    is_low = lanes < LANES // 2
    return {
        "line": lanes,
        "equal": np.full(LANES, 3),
        "scattered": lanes ^ 5,
        "backwards": 31 - lanes,
        "two lines": np.where(is_low, lanes + 9, lanes - 14),
        "two values": np.where(is_low, 7, 20),
    }[step]


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
    text += f".reg .pred %p<2>;\n{ELEMENTS}ld.param.u64 %rd0, [p0];\n"
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
    chosen = elements_of(step)
    expected = source.reshape(LANES, count)[chosen]
    assert np.array_equal(result, expected.astype(np.int64))


def stores(kind: str, count: int, step: str) -> str:
    names = [f"%v{i}" for i in range(count)]
    elements = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    register = {"8": "16", "6": "16", "2": "32", "4": "64"}[kind[-1]]
    text = HEAD + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += f".reg .b{register} %v<4>;\n"
    text += f".reg .pred %p<2>;\n{ELEMENTS}ld.param.u64 %rd0, [p0];\n"
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
    chosen = elements_of(step)
    expected = np.zeros_like(result)
    for lane in range(LANES):
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


@pytest.mark.parametrize(("elements", "lane"), [(34, 30), (16, 16)])
def test_second_half_behind_memory_is_fault_of_its_lane(engine: Engine, elements: int, lane: int) -> None:
    """Two lines: lanes 0 to 15 load elements 0 to 15, the others 20 to 35."""
    text = (
        HEAD
        + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<2>;\n"
    )
    text += "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 add.u32 %r1, %r1, 4;\nld.param.u64 %rd0, [p0];\n"
    text += "mad.wide.u32 %rd1, %r1, 4, %rd0;\nld.global.u32 %r4, [%rd1];\nret;\n}\n"
    memory = np.zeros(elements, np.uint32)
    outcome = engine.load(text).run("k", [1], [LANES], memory)
    assert outcome.status == "illegal address"
    assert f"({memory.ctypes.data + 4 * (lane + 4):#x})" in outcome.why


def test_loaded_value_may_replace_its_address(engine: Engine) -> None:
    text = (
        HEAD + ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    )
    text += f".reg .pred %p<2>;\n{ELEMENTS}ld.param.u64 %rd0, [p0];\nld.param.u64 %rd1, [p1];\n"
    text += "mad.wide.u32 %rd2, %r6, 16, %rd0;\nld.global.v2.b64 {%rd2, %rd3}, [%rd2];\n"
    text += "mad.wide.u32 %rd4, %r1, 16, %rd1;\nst.global.v2.b64 [%rd4], {%rd2, %rd3};\nret;\n}\n"
    source = np.arange(2 * LANES, dtype=np.uint64).reshape(LANES, 2)
    result = np.zeros_like(source)
    outcome = engine.load(text).run("k", [1], [LANES], source, result)
    assert outcome.status == "ok", outcome.why
    assert np.array_equal(result, source[elements_of("two lines")])


def copies(size: int, step: str, limit: int = LANES) -> str:
    """Copy an element of `size` bytes a lane to shared memory, and from there in order to p1."""
    text = HEAD + f".shared .align 16 .b8 tile[{LANES * size}];\n"
    text += ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<12>;\n.reg .b64 %rd<8>;\n"
    text += f".reg .pred %p<3>;\n{ELEMENTS}ld.param.u64 %rd0, [p0];\nld.param.u64 %rd1, [p1];\n"
    text += f"mov.u32 %r8, {STEPS[step]};\nmad.wide.u32 %rd2, %r8, {size}, %rd0;\nmov.u32 %r9, tile;\n"
    text += f"mad.lo.u32 %r9, %r3, {size}, %r9;\nsetp.lt.u32 %p2, %r1, {limit};\n"
    text += f"@%p2 cp.async.ca.shared.global [%r9], [%rd2], {size};\ncp.async.wait_all;\nbar.sync 0;\n"
    text += f"mov.u32 %r9, tile;\nmad.lo.u32 %r9, %r1, {size}, %r9;\nmad.wide.u32 %rd3, %r1, {size}, %rd1;\n"
    for at in range(0, size, 4):
        text += f"ld.shared.u32 %r10, [%r9+{at}];\nst.global.u32 [%rd3+{at}], %r10;\n"
    return text + "ret;\n}\n"


@pytest.mark.parametrize("limit", [LANES, 21])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("size", [4, 8, 16])
def test_asynchronous_copies_move_each_lanes_element(
    engine: Engine, size: int, step: str, limit: int
) -> None:
    """Lane 0's element is last in shared memory. Lanes above the limit copy nothing."""
    source = np.arange(1, LANES * size // 4 + 1, dtype=np.uint32).reshape(LANES, -1)
    result = np.zeros_like(source)
    outcome = engine.load(copies(size, step, limit)).run("k", [1], [LANES], source, result)
    assert outcome.status == "ok", outcome.why
    assert np.array_equal(result[::-1][:limit], source[elements_of(step)][:limit])
    assert not result[::-1][limit:].any()


def test_asynchronous_copy_from_behind_memory_is_fault_of_its_lane(engine: Engine) -> None:
    source, result = np.zeros(30, np.uint32), np.zeros(LANES, np.uint32)
    outcome = engine.load(copies(4, "line")).run("k", [1], [LANES], source, result)
    assert outcome.status == "illegal address"
    assert f"({source.ctypes.data + 4 * 30:#x})" in outcome.why


def test_misaligned_line_is_fault(engine: Engine) -> None:
    text = HEAD + ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    text += "mov.u32 %r1, %tid.x;\nld.param.u64 %rd0, [p0];\nmad.wide.u32 %rd1, %r1, 4, %rd0;\n"
    text += "ld.global.u32 %r4, [%rd1+2];\nret;\n}\n"
    assert engine.load(text).run("k", [1], [LANES], np.zeros(40, np.uint32)).status == "misaligned"
