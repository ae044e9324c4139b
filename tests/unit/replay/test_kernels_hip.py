"""The engine's kernels as AMD's compiler has them: no AMD GPU is needed to read its machine code."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.conftest import ROOT
from tests.unit.replay.amd_compiler import compile_for_amd

SOURCE = ROOT / "engine" / "replay" / "sample" / "kernels.hip"
RATE = "-DNB_WALL_CLOCK_KHZ=100000"
NAMES = {
    "nb_hold",
    "nb_read",
    "nb_fill_shared",
    "nb_stamp",
    "nb_touch",
    "nb_noise",
    "nb_empty",
    "nb_flush_icache",
}
S_ICACHE_INV, S_NOP, S_ENDPGM = 0xBF930000, 0xBF800000, 0xBF810000
"""SOPP 19, 0 and 1 with an operand of 0, as GCN, CDNA and RDNA up to 2 encode them."""

TARGETS = ("gfx803", "gfx906", "gfx90a:sramecc+:xnack-", "gfx1030")


@pytest.fixture(params=TARGETS)
def code(request: pytest.FixtureRequest, tmp_path: Path) -> ELFFile:
    image = compile_for_amd(SOURCE, tmp_path / "code", f"--offload-arch={request.param}", RATE)
    return ELFFile(io.BytesIO(image))


def words_of(code: ELFFile, name: str) -> tuple[int, ...]:
    """The machine code of a kernel."""
    (symbol,) = [each for each in code.get_section_by_name(".symtab").iter_symbols() if each.name == name]
    section = code.get_section(symbol["st_shndx"])
    begin = symbol["st_value"] - section["sh_addr"]
    data = section.data()[begin : begin + symbol["st_size"]]
    return struct.unpack(f"<{len(data) // 4}I", data)


def test_every_kernel_compiles_for_amd(code: ELFFile) -> None:
    symbols = {each.name for each in code.get_section_by_name(".symtab").iter_symbols()}
    assert symbols >= NAMES | {f"{name}.kd" for name in NAMES}


def test_flush_kernel_matches_composable_kernel(code: ELFFile) -> None:
    """One s_icache_inv, 16 s_nop 0, the end: nothing more and nothing reordered."""
    assert words_of(code, "nb_flush_icache") == (S_ICACHE_INV, *[S_NOP] * 16, S_ENDPGM)


def test_instruction_cache_is_touched_by_the_flush_kernel_only(code: ELFFile) -> None:
    for name in NAMES - {"nb_flush_icache"}:
        assert S_ICACHE_INV not in words_of(code, name)


def test_kernels_without_a_clock_rate_do_not_compile(tmp_path: Path) -> None:
    """The kernels do not guess the rate: the bridge asks the device (hook/hip/bridge/compile.c)."""
    compile_for_amd(SOURCE, tmp_path / "code", "--offload-arch=gfx90a", RATE)
    with pytest.raises(AssertionError, match="say how fast the wall clock is"):
        compile_for_amd(SOURCE, tmp_path / "code", "--offload-arch=gfx90a")
