"""The engine `bounds` finds violations by the table of allocations, and lets every access happen."""

from __future__ import annotations

import struct
from pathlib import Path

import benchguard
from benchguard.capture.model import Kernel, Launch, Parameter
from benchguard.probe.bounds.check import map_bytes
from benchguard.probe.bounds.report import violations
from benchguard.probe.engine import Map, Probed, Request, Unit
from benchguard.probe.engines.bounds.build import build, instrument
from benchguard.probe.engines.bounds.report import Reader, line
from benchguard.probe.ptx import Rewrite, parse
from tests.support.captures import GRANULE, Builder, Memory
from tests.unit.probe.probed import BYTES, DATA, OTHER, kernel_of, line_of
from tests.unit.probe.test_bounds import CALL, FUNCTION, LOCALS

TABLE = OTHER + GRANULE
SIZE = 1 << 13
"""Bytes of the memory at DATA, of which the table has BYTES."""

TABLE_OF_DATA = struct.pack("<QII", 1, 0, 0) + struct.pack("<QQQQ", DATA, BYTES, 1, 0)

BODY = """
mov.u32 %r1, %tid.x;
st.global.u32 [%rd2+996], 5;
ld.global.u32 %r2, [%rd2+1000]; // padding, too
setp.eq.u32 %p1, %r1, 1;
@%p1 st.global.u32 [%rd2+2000], 6;
st.u32 [%rd1+3000], 7;
st.shared.u32 [tile+60], 1;
ld.shared.u32 %r2, [tile+64]; // behind
mov.u32 %r5, tile;
cp.async.ca.shared.global [%r5], [%rd2+1024], 4;
cp.async.wait_all;
add.u64 %rd3, %rd1, 2048;
"""


def launched(probed: Probed, folder: Path) -> tuple[bytes, bytes]:
    table = TABLE_OF_DATA
    with Builder(folder / "probed.ncap") as builder:
        builder.device()
        layout = tuple(Parameter(8 * n, 8) for n in range(3))
        builder.add(Kernel(builder.module(probed.ptx), 24, 12, 0, 0, 1024, "k", layout))
        builder.stream()
        builder.memory(Memory(DATA, b"", b"", SIZE))
        builder.memory(Memory(OTHER, b"", b"", probed.maps[0].bytes))
        builder.memory(Memory(TABLE, table, table))
        parameters = struct.pack("<QQQ", DATA, OTHER, TABLE)
        builder.operation(Launch(0, 0, (1, 1, 1), (2, 1, 1), 16, parameters))
        builder.end()
    result = benchguard.replay(
        folder / "probed.ncap",
        driver="sim",
        samples=1,
        warm_up_samples=0,
        outputs=[(OTHER, probed.maps[0].bytes), (DATA, SIZE)],
    )
    assert result.verdict == "pass", result.reason
    found, data = result.outputs.values()
    assert isinstance(found, bytes) and isinstance(data, bytes)
    return found, data


def test_violations_are_found_and_happen(tmp_path: Path) -> None:
    text = kernel_of(BODY + CALL % "%rd3", FUNCTION, LOCALS)
    sites = instrument(Rewrite(parse(text), "k")).sites
    probed = build(Request("k", text))
    assert probed.maps == [Map(Unit.LAUNCH, map_bytes(len(sites))), Map(Unit.ALLOCATIONS, 1 << 20)]
    assert (dict(probed.unprobed), probed.addresses) == ({}, [])
    raw, data = launched(probed, tmp_path)
    found = [*violations(raw)]
    lines = {sites[each.site].line for each in found}
    planted = "// padding, too", "@%p1 st", "[%rd1+3000]", "cp.async.ca", "// in a function"
    assert lines == {line_of(text, each) for each in planted}
    guarded = [each for each in found if sites[each.site].line == line_of(text, "@%p1 st")]
    assert [each.thread for each in guarded] == [(1, 0, 0)]
    findings = Reader(text, "k").read(raw, TABLE_OF_DATA)
    told = [line(each) for each in findings.found]
    assert (len(told), len(found), findings.more) == (9, 9, 0)
    assert told[0].startswith(f"k, PTX line {line_of(text, '// padding, too')}: read of 4 bytes at 0x")
    assert (
        f", 0 bytes behind allocation 1, 1000 bytes at {DATA:#x}; thread (0, 0, 0), block (0, 0, 0)"
        in told[0]
    )
    assert [data[at] for at in (996, 2000, 2048, 3000)] == [5, 6, 9, 7]


def test_unknown_access_is_named() -> None:
    probed = build(
        Request("k", kernel_of("sust.b.1d.b32.trap [%rd2, {%r1}], %r2;\nst.global.u32 [%rd2], 1;"))
    )
    assert [*probed.unprobed.values()] == ["sust.b.1d.b32.trap"]


HEAP = ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"
MALLOC = (
    "{\n.param .b64 s; .param .b64 r;\nst.param.b64 [s], %rd1;\ncall.uni (r), malloc, (s);\n"
    "ld.param.b64 %rd4, [r];\n}\n"
)


def test_memory_that_no_table_lists_is_named() -> None:
    def hidden(body: str, module: str = "") -> str:
        return instrument(Rewrite(parse(kernel_of(body, module)), "k")).unlisted

    assert hidden("st.global.u32 [%rd2], 1;") == ""
    assert hidden(MALLOC + "st.u32 [%rd4], 1;", HEAP) == "uses the heap of the device"
    assert hidden("cvta.param.u64 %rd3, data;").endswith("takes the address of a parameter")
