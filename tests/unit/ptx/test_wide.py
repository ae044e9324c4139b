"""Registers, loads, stores and atomics of 128 bits (PTX ISA, .b128)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine, PtxError

HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n"
BEGIN = (
    HEAD
    + """.visible .entry k(.param .u64 p0, .param .u64 p1)
{
.reg .pred %p<4>;
.reg .b32 %r<4>;
.reg .b64 %rd<16>;
.reg .b128 %q<6>;
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
mad.wide.u32 %rd2, %r0, 16, %rd0;
mad.wide.u32 %rd3, %r0, 16, %rd1;
"""
)


def pairs(count: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """16-byte aligned pairs of random words."""
    room = np.random.default_rng(seed).integers(0, 2**64, 2 * count + 2, np.uint64)
    begin = room.ctypes.data % 16 // 8
    return room[begin : begin + 2 * count].reshape(count, 2)


def run(engine: Engine, body: str, *memory: np.ndarray[tuple[int, int], np.dtype[np.uint64]]) -> str:
    outcome = engine.load(f"{BEGIN}{body}\nret;\n}}\n").run("k", [1], [32], *memory)
    return outcome.status


@pytest.mark.parametrize("space", ["", ".global"])
@pytest.mark.parametrize("order", ["", ".volatile", ".relaxed.gpu", ".acquire.sys"])
def test_loaded_pairs_are_stored_again(engine: Engine, order: str, space: str) -> None:
    source, result = pairs(32, 1), pairs(32, 2)
    stored = order.replace("acquire", "release")
    assert (
        run(
            engine, f"ld{order}{space}.b128 %q0, [%rd2];\nst{stored}{space}.b128 [%rd3], %q0;", source, result
        )
        == "ok"
    )
    assert np.array_equal(result, source)


def test_shared_memory_holds_pairs(engine: Engine) -> None:
    source, result = pairs(32, 1), pairs(32, 2)
    body = ".shared .align 16 .b8 tile[512];\nmov.u64 %rd5, tile;\nmad.wide.u32 %rd4, %r0, 16, %rd5;\n"
    body += "ld.global.b128 %q0, [%rd2];\nst.shared.b128 [%rd4], %q0;\nld.shared.b128 %q1, [%rd4];\n"
    assert run(engine, body + "st.global.b128 [%rd3], %q1;", source, result) == "ok"
    assert np.array_equal(result, source)


def test_moves_pack_copy_and_unpack(engine: Engine) -> None:
    """Halves change places on the way; registers beside the pair keep their values."""
    source, result = pairs(32, 1), pairs(32, 2)
    body = "ld.global.b64 %rd4, [%rd2];\nld.global.b64 %rd5, [%rd2+8];\nmov.b128 %q1, {%rd4, %rd4};\n"
    body += "mov.b128 %q3, {%rd4, %rd4};\nmov.b128 %q2, {%rd5, %rd4};\nmov.b128 %q4, %q2;\n"
    body += "mov.b128 {%rd6, %rd7}, %q4;\nmov.b128 {%rd8, %rd9}, %q3;\nsub.u64 %rd8, %rd8, %rd4;\n"
    body += "add.u64 %rd7, %rd7, %rd8;\nst.global.b64 [%rd3], %rd6;\nst.global.b64 [%rd3+8], %rd7;"
    assert run(engine, body, source, result) == "ok"
    assert np.array_equal(result, source[:, ::-1])


def test_exchanges_form_a_chain(engine: Engine) -> None:
    """Each value is returned once, except the one that stays."""
    cell, source = pairs(1, 1), pairs(32, 2)
    before = {tuple(row) for row in [*cell.tolist(), *source.tolist()]}
    body = "ld.global.b128 %q0, [%rd3];\natom.global.exch.b128 %q1, [%rd0], %q0;\nst.global.b128 [%rd3], %q1;"
    assert run(engine, body, cell, source) == "ok"
    assert {tuple(row) for row in [*cell.tolist(), *source.tolist()]} == before


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("space", ["", ".global"])
def test_comparison_includes_both_halves(engine: Engine, half: int, space: str) -> None:
    cells, result = pairs(32, 1), pairs(32, 2)
    old = cells.copy()
    differ = np.arange(32) % 3 == 0
    expected = cells.copy()
    expected[differ, half] ^= np.uint64(1 << 40)
    result[:] = expected
    body = "ld.global.b128 %q0, [%rd3];\nmov.u64 %rd4, 5;\nmov.u64 %rd5, 6;\nmov.b128 %q1, {%rd4, %rd5};\n"
    body += f"atom{space}.cas.b128 %q2, [%rd2], %q0, %q1;\nst.global.b128 [%rd3], %q2;"
    assert run(engine, body, cells, result) == "ok"
    assert np.array_equal(result, old)
    assert np.array_equal(cells[differ], old[differ])
    assert (cells[~differ] == [5, 6]).all()


def test_counter_of_128_bits_loses_no_increment(engine: Engine) -> None:
    """Blocks on four host threads add 1 with a carry into the high half."""
    cell = pairs(1, 1)
    cell[0] = [2**64 - 1000, 7]
    body = """ld.relaxed.gpu.global.b128 %q0, [%rd0];
$again:
mov.b128 {%rd4, %rd5}, %q0;
add.cc.u64 %rd6, %rd4, 1;
addc.u64 %rd7, %rd5, 0;
mov.b128 %q1, {%rd6, %rd7};
atom.acq_rel.gpu.global.cas.b128 %q2, [%rd0], %q0, %q1;
mov.b128 {%rd8, %rd9}, %q2;
setp.ne.u64 %p0, %rd8, %rd4;
setp.ne.or.u64 %p1, %rd9, %rd5, %p0;
mov.b128 %q0, %q2;
@%p1 bra $again;
ret;
}
"""
    module = engine.load(BEGIN + body)
    assert module.run("k", [40], [64], cell, pairs(1, 2), workers=4, timeout=60).status == "ok"
    assert cell.tolist() == [[40 * 64 - 1000, 8]]


@pytest.mark.parametrize("vector", ["v2.u16", "v2.b32", "v4.u16", "v4.b32", "v2.u64"])
def test_strong_vector_is_never_seen_in_parts(engine: Engine, vector: str) -> None:
    """Half of the blocks write vectors of equal elements, the others count vectors whose elements differ."""
    count, kind = int(vector[1]), vector[3:]
    bits = int(kind[1:])
    name = {16: "h", 32: "r", 64: "rd"}[bits]
    names = [f"%{name}{number}" for number in range(10, 10 + count)]
    cell, found = pairs(1, 1), pairs(1, 2)
    cell[:], found[:] = 0, 0
    body = f"""
.reg .b16 %h<16>;
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
.reg .pred %p<4>;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
mov.u32 %r0, %ctaid.x;
and.b32 %r1, %r0, 1;
setp.eq.u32 %p0, %r1, 0;
mov.u32 %r2, 0;
$again:
add.u32 %r2, %r2, 1;
mov.u32 %r3, %tid.x;
add.u32 %r3, %r3, %r2;
cvt.u{bits}.u32 {names[0]}, %r3;
{"".join(f"mov.b{bits} {each}, {names[0]};" for each in names[1:])}
@%p0 st.relaxed.gpu.global.{vector} [%rd0], {{{", ".join(names)}}};
ld.relaxed.gpu.global.{vector} {{{", ".join(names)}}}, [%rd0];
{"".join(f"setp.ne.b{bits} %p1, {each}, {names[0]}; @%p1 red.global.add.u32 [%rd1], 1;" for each in names[1:])}
setp.lt.u32 %p2, %r2, 2000;
@%p2 bra $again;
ret;
}}
"""
    module = engine.load(f"{HEAD}.visible .entry k(.param .u64 p0, .param .u64 p1)\n{{{body}")
    assert module.run("k", [8], [32], cell, found, workers=4, timeout=60).status == "ok"
    assert cell.any() and not found.any()


@pytest.mark.parametrize(
    "access",
    ["ld.global.b128 %q0, [%rd4];", "st.global.b128 [%rd4], %q0;", "atom.global.exch.b128 %q1, [%rd4], %q0;"],
)
@pytest.mark.parametrize(("offset", "status"), [(8, "misaligned"), (16, "illegal address")])
def test_bad_address_is_fault(engine: Engine, access: str, offset: int, status: str) -> None:
    assert run(engine, f"add.u64 %rd4, %rd0, {offset};\n{access}", pairs(1, 1), pairs(1, 2)) == status


@pytest.mark.parametrize(
    "instruction",
    [
        "add.u64 %rd4, %q0, %rd1;", "mov.b64 %rd4, %q0;", "mov.b64 %q0, %rd4;", "mov.b128 %rd4, %rd5;",
        "ld.global.v2.b64 %q0, [%rd2];", "ld.global.b64 %rd4, [%q0];", "ld.global.b128 %rd4, [%rd2];",
        "atom.global.add.b128 %q0, [%rd2], %q1;", "atom.global.cas.b128 %q0, [%rd2], %q1, %rd4;",
        "atom.global.exch.b128 %q0, [%rd2], {%rd4, %rd5};", "mov.b128 %q0, {%q1, %q2};", "mov.b128 %q6, %q1;",
    ],
)  # fmt: skip
def test_other_uses_are_refused(engine: Engine, instruction: str) -> None:
    with pytest.raises(PtxError, match="line 15"):
        engine.load(f"{BEGIN}{instruction}\nret;\n}}\n")
