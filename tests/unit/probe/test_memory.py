"""The engine `memory` counts warps, bytes, sectors, lines and passes that follow from the access pattern."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import benchguard
from benchguard.capture.model import Kernel, Launch, Parameter
from benchguard.probe.engine import Map, Probed, Request, Unit
from benchguard.probe.engines.memory.build import build
from benchguard.probe.engines.memory.places import place_of, places
from benchguard.probe.engines.memory.report import Row, report, rows
from benchguard.probe.ptx import PtxError, Rewrite, parse
from tests.support.captures import Builder, Memory
from tests.unit.probe.probed import DATA, OTHER, kernel_of, line_of

SIZE = 1 << 16


def count(
    body: str, folder: Path, module: str = "", *, threads: int = 64, blocks: int = 2
) -> tuple[Row, ...]:
    """Launch the probed kernel, and read its counters."""
    lane = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\n"
    text = kernel_of(lane + body, module)
    rewrite = Rewrite(parse(text), "k")
    trace = launched(build(Request("k", text)), folder, threads, blocks)
    return rows([place_of(rewrite.module, *each) for each in places(rewrite)], [trace])


def launched(probed: Probed, folder: Path, threads: int, blocks: int) -> bytes:
    with Builder(folder / "probed.ncap") as builder:
        builder.device()
        layout = (Parameter(0, 8), Parameter(8, 8))
        builder.add(Kernel(builder.module(probed.ptx), 16, 12, 0, 0, 1024, "k", layout))
        builder.stream()
        builder.memory(Memory(DATA, b"", b"", SIZE))
        builder.memory(Memory(OTHER, b"", b"", probed.maps[0].bytes))
        parameters = struct.pack("<QQ", DATA, OTHER)
        builder.operation(Launch(0, 0, (blocks, 1, 1), (threads, 1, 1), 0, parameters))
        builder.end()
    result = benchguard.replay(
        folder / "probed.ncap",
        driver="sim",
        samples=1,
        warm_up_samples=0,
        outputs=[(OTHER, probed.maps[0].bytes)],
    )
    assert result.verdict == "pass", result.reason
    (raw,) = result.outputs.values()
    assert isinstance(raw, bytes)
    return raw


def at(register: str, stride: int) -> str:
    return f"mul.wide.u32 %rd3, {register}, {stride};\nadd.u64 %rd3, %rd2, %rd3;\n"


PATTERNS = {
    "coalesced": (at("%r1", 4) + "ld.global.u32 %r3, [%rd3];", 4, 4, 1, 1.0),
    "vectors": (at("%r1", 16) + "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];", 16, 16, 4, 1.0),
    "a sector each": (at("%r1", 32) + "st.global.u32 [%rd3], %r1;", 4, 32, 8, 1 / 8),
    "a line each": (at("%r1", 128) + "st.global.u8 [%rd3], %h1;", 1, 32, 32, 1 / 32),
    "the same word": ("red.global.add.u32 [%rd2], 1;", 4, 1, 1, 1.0),
    "misplaced by a word": (at("%r1", 4) + "ld.global.u32 %r3, [%rd3+4];", 4, 5, 2, 128 / 160),
    "generic": ("mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd1, %rd3;\nld.u32 %r3, [%rd3];", 4, 4, 1, 1.0),
}


QUICK = [each if each == "a sector each" else pytest.param(each, marks=pytest.mark.full) for each in PATTERNS]


@pytest.mark.parametrize(
    "name",
    QUICK,
)
def test_pattern_has_its_transactions(name: str, tmp_path: Path) -> None:
    body, size, sectors, lines, efficiency = PATTERNS[name]
    (row,) = count(body, tmp_path)
    assert (row.warps, row.threads, row.bytes) == (4, 128, 128 * size)
    assert (row.sectors, row.lines) == (4 * sectors, 4 * lines)
    assert row.efficiency == pytest.approx(efficiency) and row.passes is None


@pytest.mark.full
def test_guard_and_divergence_count_active_threads_only(tmp_path: Path) -> None:
    body = (
        at("%r1", 4)
        + "setp.lt.u32 %p1, %r2, 8;\n@%p1 ld.global.u32 %r3, [%rd3];\n@!%p1 st.global.u32 [%rd3], %r1;"
    )
    load, store = count(body, tmp_path)
    assert (load.warps, load.threads, load.sectors) == (4, 32, 4)
    assert (store.warps, store.threads, store.sectors) == (4, 96, 12)


@pytest.mark.parametrize(("stride", "passes"), [(4, 1), (8, 2), (128, 32), (0, 1)])
@pytest.mark.full
def test_bank_conflicts_of_a_stride(stride: int, passes: int, tmp_path: Path) -> None:
    body = f"mov.u32 %r4, tile;\nmad.lo.u32 %r5, %r2, {stride}, %r4;\nst.shared.u32 [%r5], %r1;"
    (row,) = count(body, tmp_path, ".shared .align 128 .b8 tile[4096];")
    assert (row.warps, row.passes, row.conflicts, row.sectors) == (4, 4 * passes, passes, 0)


def test_report_has_a_line_for_each_access_and_refuses_other_traces() -> None:
    ptx = kernel_of(".loc 1 7 1\nst.global.u32 [%rd2], 1;", '.file 1 "k.cu"')
    text = report(ptx, "k", [struct.pack("<6Q", 1, 32, 128, 4, 1, 0)])
    cells = f"{line_of(ptx, 'st.global')} store 4 B global 1 32 128 4 1 100% - k.cu:7"
    assert text.splitlines()[1].split() == cells.split()
    with pytest.raises(ValueError, match="the trace has 3 bytes"):
        report(ptx, "k", [b"abc"])


def test_old_target_is_refused_and_the_map_has_counters_for_each_place() -> None:
    body = "st.global.u32 [%rd2], 1;\nld.local.u32 %r1, [%rd2];\nld.u32 %r1, [%rd1];"
    assert build(Request("k", kernel_of(body))).maps == [Map(Unit.LAUNCH, 96)]
    with pytest.raises(PtxError, match="needs sm_70"):
        build(Request("k", kernel_of(body).replace("sm_90", "sm_60")))
