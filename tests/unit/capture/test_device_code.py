"""Digests of kernels are the same in every form of an image, under another name, and bounded for hostile images."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchguard.capture.device_code import kernel_codes
from tests.conftest import ROOT

IMAGES = ROOT / "tests/unit/hook/images"
PTX = (ROOT / "tests/attacks/kit/kernels.ptx").read_bytes()
CUBIN = (IMAGES / "sm_90.cubin").read_bytes()


def digests(image: bytes, name: str) -> set[str]:
    return {each.sha256 for each in kernel_codes(image, {name})}


@pytest.mark.parametrize("name", ["default.fatbin", "size.fatbin", "speed.fatbin"])
def test_kernel_in_fat_binary_same_as_in_cubin_and_ptx(name: str) -> None:
    inside = digests((IMAGES / name).read_bytes(), "saxpy")
    assert digests(CUBIN, "saxpy") < inside
    assert digests((IMAGES / "compute_75.ptx").read_bytes(), "saxpy") < inside
    assert len(inside) == 2


def test_renamed_kernel_has_same_digest() -> None:
    (own,) = digests(PTX, "product")
    renamed = PTX.replace(b"product", b"other").replace(b"%rd", b"%wide").replace(b"$L__BB", b"$Label")
    commented = renamed.replace(b"\tret;", b"/* a */ ret; // b")
    assert digests(commented, "other") == {own}
    assert digests(PTX.replace(b"fma.rn.f32", b"fma.rz.f32"), "product") != {own}


def test_renamed_section_of_cubin_has_same_digest() -> None:
    renamed = CUBIN.replace(b".text.saxpy\0", b".text.other\0")
    assert digests(renamed, "other") == digests(CUBIN, "saxpy")


def test_image_without_kernels_gives_nothing() -> None:
    for image in (b"", b"\x7fELF\x02\x01", b"{.entry", b".entry x", b".entry x {" * 99, bytes(4096)):
        assert not list(kernel_codes(image))


def test_overlapping_sections_are_hashed_once() -> None:
    """65535 sections of a hostile file are the whole file."""
    count, size = 0xFFFF, 1 << 16
    (table,) = struct.unpack_from("<Q", CUBIN, 40)
    names = struct.unpack_from("<H", CUBIN, 62)[0]
    strings = struct.unpack_from("<Q", CUBIN, table + 64 * names + 24)[0]
    name_at = CUBIN.index(b".text.saxpy\0", strings) - strings
    section = struct.pack("<IIQQQQIIQQ", name_at, 1, 0, 0, 0, size, 0, 0, 1, 0)
    head = bytearray(CUBIN[:64])
    head[40:48] = struct.pack("<Q", 64 + len(CUBIN))
    head[58:64] = struct.pack("<HHH", 64, count, count - 1)
    last = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64 + strings, size, 0, 0, 1, 0)
    image = bytes(head) + CUBIN + section * (count - 1) + last
    assert 0 < len(list(kernel_codes(image))) <= len(image) // size


@settings(max_examples=100)
@given(
    st.sampled_from(["sm_90.cubin", "default.fatbin", "compute_75.ptx"]),
    st.lists(st.tuples(st.integers(0, 1999), st.integers(0, 255)), max_size=8),
)
def test_damaged_image_raises_nothing(name: str, changes: list[tuple[int, int]]) -> None:
    image = bytearray((IMAGES / name).read_bytes())
    for place, value in [*changes[:4], *((place % 256, value) for place, value in changes[4:])]:
        image[place] = value
    assert all(re.fullmatch("[0-9a-f]{64}", each.sha256) for each in kernel_codes(bytes(image)))
