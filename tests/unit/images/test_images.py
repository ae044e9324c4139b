"""Code images: entries, kernels, targets; damaged and hostile images; the readers agree with each other."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from benchguard.capture.library import device_sections
from benchguard.images.image import Code, format_of, read_image
from benchguard.images.kernels import Kernel, cubin_target, ptx_kernels, ptx_of
from tests.conftest import ROOT

IMAGES = ROOT / "tests" / "unit" / "hook" / "images"
PARAMETERS = {
    "empty": (),
    "mixed": ((0, 1), (2, 2), (8, 16), (24, 8)),
    "saxpy": ((0, 8), (8, 8), (16, 4), (20, 4)),
}


def codes(path: Path) -> tuple[Code, ...]:
    image = read_image(path.read_bytes())
    assert not image.problem
    return image.codes


@pytest.mark.parametrize("name", ["default", "plain", "size", "speed"])
def test_fat_binary_has_machine_code_and_ptx_with_the_same_parameters(name: str) -> None:
    """PTX's parameters are computed from the text, a cubin's are read from `.nv.info`."""
    cubin, ptx = codes(IMAGES / f"{name}.fatbin")
    assert (cubin.format, ptx.format) == ("cubin", "ptx")
    assert cubin.target.replace("sm_", "compute_") == ptx.target
    for code in (cubin, ptx):
        assert {kernel.name: kernel.parameters for kernel in code.kernels} == PARAMETERS


@pytest.mark.parametrize(
    ("name", "compressions"),
    [("default", ("", "zstd")), ("plain", ("", "")), ("size", ("zstd", "zstd")), ("speed", ("", "lz4"))],
)
def test_entries_have_compression_and_both_sizes(name: str, compressions: tuple[str, ...]) -> None:
    found = codes(IMAGES / f"{name}.fatbin")
    assert tuple(code.compression for code in found) == compressions
    assert all((code.stored_bytes < code.raw_bytes) == bool(code.compression) for code in found)


@pytest.mark.parametrize(
    ("name", "target", "registers"),
    [
        ("sm_75", "sm_75", {"empty": 4, "mixed": 8, "saxpy": 11}),
        ("sm_90", "sm_90", {"empty": 4, "mixed": 10, "saxpy": 12}),
    ],
)
def test_cubin_has_target_and_registers(name: str, target: str, registers: dict[str, int]) -> None:
    """The numbers are those of `cuobjdump -res-usage` of CUDA 13.5; sm_75 has them in another place than sm_90."""
    raw = (IMAGES / f"{name}.cubin").read_bytes()
    [code] = read_image(raw).codes
    assert (code.target, cubin_target(raw)) == (target, target)
    assert {kernel.name: kernel.registers for kernel in code.kernels} == registers


def test_shared_memory_of_cubin_and_ptx() -> None:
    """A cubin for sm_90 counts the 1,024 bytes that the system reserves."""
    found = codes(IMAGES / "variables_size.fatbin")
    assert [(code.target, code.kernels[0].shared_bytes) for code in found] == [
        ("sm_90", 1040), ("compute_90", 16), ("sm_80", 16),
    ]  # fmt: skip


def test_link_time_code_is_named_and_not_unpacked() -> None:
    [code] = codes(ROOT / "tests" / "sim" / "data" / "lto.fatbin")
    assert (code.format, code.target, code.kernels, code.problem) == ("lto_ir", "sm_90", (), "")


def test_bundle_of_amd_has_a_code_for_each_target() -> None:
    found = codes(ROOT / "tests" / "data" / "hip" / "bundle.hipfb")
    assert [code.target.rpartition("--")[2] for code in found] == [
        "gfx1100",
        "gfx90a:xnack+",
        "gfx90a:xnack-",
    ]
    assert all({"saxpy", "mixed", "sized"} <= {kernel.name for kernel in code.kernels} for code in found)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x7fELF\x02\x01" + bytes(58), "elf"),
        (b"", "unknown"),
        (b".version 8.0\n.target sm_90", "ptx"),
        (b".version 8.0\n.target sm_90\0\0", "ptx"),
        (b".version 8.0\n\0.target sm_90\0", "unknown"),
        (b"MZ", "unknown"),
    ],
)
def test_format_follows_from_the_first_bytes(head: bytes, kind: str) -> None:
    assert format_of(head) == kind


PTX = """
.version 8.0
.target sm_90a, debug // .entry not_this(
/* .entry nor_this( */
.visible .entry one(.param .align 16 .b8 a[40], .param .u16 b, .param .u64 .ptr .global .align 4 c)
.maxntid 128, 2
{
  .shared .align 4 .b8 tile[1024];
  .shared .f32 more[4][8];
  { ret; } // }
}
.entry two() { ret; }
"""


def test_ptx_gives_parameters_shared_memory_and_threads() -> None:
    [code] = read_image(PTX.encode()).codes
    assert code.target == "compute_90a"
    assert code.kernels == (
        Kernel("one", ((0, 40), (40, 2), (48, 8)), shared_bytes=1024 + 128, max_threads=256),
        Kernel("two", (), shared_bytes=0),
    )


def test_ptx_of_a_kernel_is_its_text_with_comments() -> None:
    text = ptx_of(PTX, "one")
    assert (
        text is not None and text.startswith(".visible .entry one(") and text.endswith("{ ret; } // }\n}\n")
    )
    assert ptx_of(PTX, "not_this") is None


@pytest.mark.parametrize("cut", [0, 10, 64, 100, 1000, 5000])
def test_cut_cubin_is_a_problem_and_no_exception(cut: int) -> None:
    image = read_image((IMAGES / "sm_90.cubin").read_bytes()[:cut])
    assert not any(code.kernels for code in image.codes)


@pytest.mark.parametrize(
    "text",
    [
        ".visible " * 200_000,
        ".entry k(" + ".param .u64 .ptr " * 100_000 + ")",
        ".entry k(" + ".param .u64 a," * 100_000 + ")",
        ".entry k(" + " " * 400_000 + "{" * 100_000,
        ".entry k() { " + ".shared .f32 x" + "[9]" * 100_000 + ";}",
        "/*" * 300_000,
        ".entry k() .maxntid 999999999, 999999999, 999999999 { .shared .b64 x[999999999][999999999]; }",
    ],
    ids=range(7),
)
def test_hostile_ptx_is_read_in_linear_time(text: str) -> None:
    """An expression that tries a text from every place again would reach pytest's time-out."""
    for kernel in ptx_kernels(text):
        assert kernel.max_threads is None
        assert kernel.shared_bytes is None or kernel.shared_bytes < 1 << 32


def test_entries_that_unpack_to_too_much_are_refused() -> None:
    raw = bytearray((IMAGES / "size.fatbin").read_bytes())
    struct.pack_into("<Q", raw, 16 + 56, 1 << 40)
    assert "unpacks to more than" in read_image(bytes(raw)).problem


def test_file_without_device_code_has_no_sections() -> None:
    assert device_sections(Path("/bin/true")) == []
    assert device_sections(Path("/nowhere")) == []
