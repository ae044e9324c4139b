"""The probe `bounds` finds each planted violation, at its line, and nothing in accesses that are allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.probe.bounds.check import KEPT, Place
from benchguard.probe.bounds.rewrite import rewrite
from tests.unit.probe.probed import BYTES, DATA, OTHER, kernel_of, line_of, probe

FUNCTION = """
.func store (.param .b64 place)
{
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [place];
st.u32 [%rd1], 9; // in a function
ret;
}
"""
CALL = "{ .param .b64 p; st.param.b64 [p], %s; call store, (p); }"

ALLOWED = """
ld.global.u32 %r1, [%rd2+996];
ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd2+992]; // the last of its 16 bytes are padding
ld.global.u8 %r1, [%rd2+1023];
st.global.u32 [%rd2+996], 7;
st.u64 [%rd1+8], 5;
atom.global.add.u32 %r1, [%rd2+4], 3;
setp.eq.u32 %p1, 0, 1;
@%p1 st.global.u32 [%rd2+5000], 1;
st.shared.u32 [tile+60], 1;
mov.u32 %r5, tile;
ld.shared.v2.u32 {%r1, %r2}, [%r5+8];
mov.u64 %rd3, tile;
cvta.shared.u64 %rd4, %rd3;
st.u32 [%rd4+16], 4;
mov.u64 %rd5, spot;
cvta.local.u64 %rd6, %rd5;
st.u32 [%rd6], 4;
ld.local.u32 %r1, [spot];
mov.u64 %rd7, counter;
red.global.add.u64 [%rd7+8], 1;
ld.const.u32 %r1, [factors+4];
mov.u64 %rd8, factors;
cvta.const.u64 %rd9, %rd8;
ld.u32 %r1, [%rd9];
cp.async.ca.shared.global [%r5], [%rd2+976], 16;
cp.async.wait_all;
"""
MODULE = ".global .align 8 .u64 counter[2];\n.const .align 4 .u32 factors[2] = {3, 4};"
LOCALS = ".shared .align 16 .b8 tile[64]; .local .align 4 .b8 spot[8];"


def test_allowed_accesses_give_no_violation_and_keep_their_effect(tmp_path: Path) -> None:
    """Global, generic, shared, local and constant memory, padding, a false predicate, a device function."""
    text = kernel_of(ALLOWED + CALL % "%rd1", MODULE + FUNCTION, LOCALS)
    found = probe(text, tmp_path)
    assert (found.violations, found.plan.unchecked, found.plan.checked) == ((), (), 1)
    assert found.data[996:1000] == b"\7\0\0\0" and found.data[8] == 5 and found.data[4] == 3
    assert found.data[0] == 9


PLANTED = {
    "read behind the padding": ("ld.global.u32 %r1, [%rd2+1024];", "outside", 1024, 4),
    "vector read over the padding": ("ld.global.v2.u32 {%r1, %r2}, [%rd2+1024];", "outside", 1024, 8),
    "read before": ("ld.global.u32 %r1, [%rd2+-4];", "outside", -4, 4),
    "write into the padding": ("st.global.u32 [%rd2+1000], %r1;", "outside", 1000, 4),
    "vector write over the end": ("st.global.v4.u32 [%rd2+992], {%r1, %r1, %r1, %r1};", "outside", 992, 16),
    "octal offset": ("ld.global.u32 %r2, [%rd2+02000];", "outside", 1024, 4),
    "generic write": ("st.u32 [%rd1+1024], %r1;", "outside", 1024, 4),
    "generic read": ("ld.u32 %r1, [%rd1+1024];", "outside", 1024, 4),
    "write to a constant": ("cvta.const.u64 %rd9, %rd8; st.u32 [%rd9], 1;", "outside", None, 4),
    "atomic": ("atom.global.add.u32 %r2, [%rd2+1000], %r1;", "outside", 1000, 4),
    "reduction": ("red.global.add.u32 [%rd2+1000], %r1;", "outside", 1000, 4),
    "misaligned read": ("ld.global.u32 %r2, [%rd2+6];", "misaligned", 6, 4),
    "misaligned vector": ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+8];", "misaligned", 8, 16),
    "asynchronous copy": ("cp.async.ca.shared.global [%r5], [%rd2+1024], 4;", "outside", 1024, 4),
    "prefetch": ("prefetch.global.L2 [%rd2+4096];", "outside", 4096, 1),
    "end of the address space": ("ld.global.u64 %rd4, [0xfffffffffffffff8];", "outside", 2**64 - 8 - DATA, 8),
}


QUICK = {"write into the padding"}


@pytest.mark.parametrize(
    "name", [each if each in QUICK else pytest.param(each, marks=pytest.mark.full) for each in PLANTED]
)
def test_planted_violation_is_found_at_its_line_and_left_out(name: str, tmp_path: Path) -> None:
    code, fault, offset, size = PLANTED[name]
    text = kernel_of(
        f"mov.u32 %r1, 7;\nmov.u32 %r5, tile;\nmov.u64 %rd8, factors;\n{code}\n{ALLOWED}", MODULE, LOCALS
    )
    found = probe(text, tmp_path)
    (violation,) = found.violations
    assert found.lines == [line_of(text, code)]
    assert violation.bytes == size and (offset is None or violation.address == DATA + offset)
    assert violation.is_misaligned == (fault == "misaligned")
    assert violation.is_misaligned or violation.base in (DATA, OTHER)


@pytest.mark.full
def test_shared_access_behind_the_dynamic_memory_is_found(tmp_path: Path) -> None:
    """16 static and 32 dynamic bytes: 48 in all."""
    body = "st.shared.u32 [dynamic+28], 1;\nst.shared.u32 [dynamic+32], 1;\nld.shared.u32 %r1, [tile+44];\n"
    module = ".shared .align 16 .b8 tile[16];\n.extern .shared .align 16 .b8 dynamic[];"
    text = kernel_of(body + "st.shared.u32 [tile], 1;", module)
    found = probe(text, tmp_path, shared=32)
    assert found.lines == [line_of(text, "dynamic+32")]
    assert found.violations[0].size == found.violations[0].address


def test_violation_in_a_function_is_found_at_its_line(tmp_path: Path) -> None:
    text = kernel_of("add.u64 %rd3, %rd1, 2048;\n" + CALL % "%rd3", FUNCTION)
    found = probe(text, tmp_path)
    assert found.lines == [line_of(text, "in a function")]
    assert found.plan.sites[found.violations[0].site].function == "store"


@pytest.mark.full
def test_violations_of_many_threads_are_counted_and_a_few_kept(tmp_path: Path) -> None:
    body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd2, %rd3;\nst.global.u32 [%rd3], %r1;"
    found = probe(kernel_of(body), tmp_path, threads=256, blocks=3)
    assert sum(found.counts.values()) == 3 * 6 and len(found.violations) == KEPT
    assert all(each.thread[0] >= BYTES // 4 for each in found.violations)
    assert {each.block for each in found.violations} <= {(0, 0, 0), (1, 0, 0), (2, 0, 0)}


@pytest.mark.full
def test_source_line_comes_from_the_line_information(tmp_path: Path) -> None:
    module = '.file 1 "/src/k.cu"'
    text = kernel_of(".loc 1 42 7\nst.global.u32 [%rd2+2048], 1;", module)
    found = probe(text, tmp_path)
    site = found.plan.sites[found.violations[0].site]
    assert (site.file, site.source_line) == ("/src/k.cu", 42)


def test_kernel_cannot_reach_the_map_of_its_violations(tmp_path: Path) -> None:
    """It knows the addresses, and overwrites both counts, after each violation."""
    body = "st.global.u32 [%rd2+4096], 1;\n"
    plain = kernel_of(body)
    first = probe(plain, tmp_path)
    for at in (first.plan.map, first.plan.map + 64, first.plan.map - 48):
        body += f"mov.u64 %rd3, {at};\nst.global.u64 [%rd3], 0;\natom.exch.b64 %rd4, [%rd3], 0;\n"
    found = probe(kernel_of(body), tmp_path)
    assert len(found.violations) == 7 and set(found.counts.values()) == {1}


DOUBTS = {
    "bulk copy": "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;",
    "surface": "sust.b.1d.b32.trap [%rd2, {%r1}], %r2;",
    "pointer": "call %rd2, (), proto;",
    "clock": "mov.u64 %rd3, %globaltimer;",
    "branch": "brx.idx %r1, targets;",
    "parameter": "cvta.param.u64 %rd3, %rd1;",
    "odd address": "st.global.u32 [%rd2+4+4], 1;",
    "long number": f"st.global.u32 [%rd2+{'9' * 5000}], 1;",
    "offset of 33 bits": "st.global.u32 [%rd2+0x100000000], 1;",
    "no octal number": "st.global.u32 [%rd2+08], 1;",
    "generic address of a variable": "st.u32 [somewhere], 1;",
}


@pytest.mark.parametrize("name", DOUBTS)
def test_unchecked_instruction_is_a_doubt(name: str) -> None:
    found = rewrite(kernel_of(f"{DOUBTS[name]}\nst.global.u32 [%rd2], 1;").encode(), ["k"], Place(0, 0))
    assert len(found.doubts["k"]) == 1 and len(found.sites) == 1
