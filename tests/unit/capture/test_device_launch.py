"""Code that launches graphs from the device is found, packed or not; code that cannot be unpacked counts as such."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import lz4.block
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from benchguard.capture import Capture
from benchguard.capture.device_launch import NAMES, graph_launcher
from benchguard.capture.fatbin import ENTRIES_MAX, LZ4, MAGIC, ZSTD, packed_codes
from benchguard.capture.unpack import CodeError
from benchguard.capture.unrestored import unrestored
from tests.support.captures import Builder
from tests.unit.grade.recorded import record


def fatbin(*entries: tuple[bytes, int, int]) -> bytes:
    """Of (payload, flags, raw bytes)."""
    body = b""
    for payload, flags, raw in entries:
        padded = payload.ljust(-(-len(payload) // 8) * 8, b"\0")
        head = struct.pack("<HHIQI", 2, 1, 64, len(padded), len(payload)).ljust(40, b"\0")
        body += head + struct.pack("<QQQ", flags, 0, raw) + padded
    return struct.pack("<IHHQ", MAGIC, 1, 16, len(body)) + body


def has(image: bytes) -> bool:
    return any(name in code for code in (image, *packed_codes(image)) for name in NAMES)


HONEST = (zstandard.compress(b"\x7fELF".ljust(64, b"\0")), ZSTD, 64)
CODE = b"\x7fELF" + bytes(200) + b"cudaGraphLaunch\0" + bytes(300)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param((CODE, 0, 0), id="plain"),
        pytest.param((lz4.block.compress(CODE, store_size=False), LZ4, len(CODE)), id="lz4"),
        pytest.param((zstandard.compress(CODE), ZSTD, len(CODE)), id="zstd"),
    ],
)
def test_graph_launch_in_a_packed_entry_is_found(entry: tuple[bytes, int, int]) -> None:
    assert has(fatbin(HONEST, entry))
    assert not has(fatbin(HONEST, HONEST))


def test_graph_launch_in_a_plain_image_is_found() -> None:
    assert has(CODE)
    assert not has(bytes(100))


@given(st.binary(max_size=400))
def test_damaged_fat_binary_yields_bytes_or_raises_code_error(damage: bytes) -> None:
    whole = fatbin((lz4.block.compress(CODE, store_size=False), LZ4, len(CODE)))
    for image in (
        whole[: len(damage)] + damage,
        damage + whole,
        whole[:16] + damage + whole[16 + len(damage) :],
    ):
        with suppress(CodeError):
            assert all(isinstance(code, bytes) for code in packed_codes(image))


ENCODED = bytes(each ^ 255 for each in CODE)
CLAIMS = (zstandard.compress(bytes(1 << 20)), ZSTD, 1 << 30)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        pytest.param([HONEST, (b"garbage", ZSTD, 64)], "does not decompress", id="garbage"),
        pytest.param(
            [HONEST, (zstandard.compress(bytes(63)), ZSTD, 64)], "63 bytes instead", id="wrong size"
        ),
        pytest.param([HONEST, (b"\xf0" * 64, LZ4, 64)], "does not decompress", id="damaged lz4"),
        pytest.param([HONEST, (ENCODED, 0, 0)], "is not a cubin", id="packed without saying so"),
        pytest.param(
            [(zstandard.compress(ENCODED), ZSTD, len(ENCODED))],
            "is not a cubin",
            id="packed in another way, too",
        ),
        pytest.param([CLAIMS] * 24, "unpacks to 25769803776 bytes", id="24 GiB"),
        pytest.param([HONEST] * ENTRIES_MAX, "may be behind 4096 others", id="too many"),
    ],
)
def test_fat_binary_that_cannot_be_unpacked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[tuple[bytes, int, int]], why: str
) -> None:
    with record(tmp_path / "x.ncap") as capture:
        monkeypatch.setattr(capture, "image", lambda _: fatbin(*entries))
        assert why in graph_launcher(capture)


BEHIND = "may be behind the last one that can be read"


@pytest.mark.parametrize(
    ("image", "why"),
    [
        pytest.param(fatbin(HONEST) + b"x", BEHIND, id="a byte"),
        pytest.param(fatbin(HONEST) + fatbin(HONEST)[16:-8], BEHIND, id="a cut entry"),
        pytest.param(fatbin(HONEST)[:16] + bytes(8) + b"x" * 80, BEHIND, id="an entry without a header"),
        pytest.param(fatbin(*[HONEST] * ENTRIES_MAX), "may be behind 4096 others", id="too many"),
    ],
)
def test_fat_binary_with_entries_that_only_a_driver_may_find_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: bytes, why: str
) -> None:
    with record(tmp_path / "x.ncap") as capture:
        monkeypatch.setattr(capture, "image", lambda _: image)
        assert why in graph_launcher(capture)
        assert why in unrestored(capture)


def test_fat_binary_of_honest_entries_launches_no_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with record(tmp_path / "x.ncap") as capture:
        monkeypatch.setattr(capture, "image", lambda _: fatbin(*[HONEST] * 100) + bytes(8))
        assert graph_launcher(capture) == ""


def test_graph_launch_in_a_module_whose_kernels_are_not_launched_is_found(tmp_path: Path) -> None:
    """A kernel of another module may call it by its address."""
    path = tmp_path / "x.ncap"
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.module("// cudaGraphLaunch")
        builder.stream()
        builder.end()
    with Capture.open(path) as capture:
        assert "cudaGraphLaunch" in graph_launcher(capture)
