"""Opening a hostile file gives a Capture or a CaptureError of one line, quickly and in little memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from benchguard.capture import Capture, CaptureError, CaptureWriter, Limits
from benchguard.capture.layout import (
    BLOB,
    BLOB_MAX,
    CAPTURE,
    CAPTURE_MAGIC,
    SECTION,
    VERSION,
    Compression,
    Kind,
)
from tests.conftest import ROOT
from tests.support import captures
from tests.support.altered import Altered

SAID = r"^[^\n]*record it again$"


def refused(path: Path) -> str:
    with pytest.raises(CaptureError, match=SAID) as excinfo:
        Capture.open(path)
    assert str(path) in str(excinfo.value)
    return str(excinfo.value)


def sealed(
    path: Path, blobs: list[tuple[bytes, bytes, int]], sections: list[tuple[int, int, int, int, int]]
) -> Path:
    """Write a file with arbitrary content and valid hashes. Blobs are (SHA-256, stored bytes, raw size)."""
    body, table, at = bytearray(), bytearray(), CAPTURE.size
    for digest, stored, size in blobs:
        compression = 0 if len(stored) == size else 1
        table += BLOB.struct.pack(digest, at + len(body), len(stored), size, compression, 0)
        body += stored
    body += bytes(-len(body) % 8)
    end = b"".join(SECTION.struct.pack(*section) for section in sections)
    blob_at = at + len(body)
    section_at = blob_at + len(table)
    header = CAPTURE.struct.pack(
        CAPTURE_MAGIC,
        VERSION,
        len(sections),
        section_at + len(end),
        blob_at,
        len(blobs),
        0,
        section_at,
        hashlib.sha256(bytes(table) + end).digest(),
    )
    path.write_bytes(header + body + table + end)
    return path


def resealed(raw: bytearray) -> bytes:
    """The file with the hash of its present tables."""
    fields = list(CAPTURE.struct.unpack_from(raw))
    blob_at, blobs, section_at, sections = fields[4], fields[5], fields[7], fields[2]
    tables = (
        raw[blob_at : blob_at + blobs * BLOB.size] + raw[section_at : section_at + sections * SECTION.size]
    )
    fields[8] = hashlib.sha256(tables).digest()
    raw[: CAPTURE.size] = CAPTURE.struct.pack(*fields)
    return bytes(raw)


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return captures.graph_capture(tmp_path / "whole.ncap").read_bytes()


def test_file_cut_at_any_boundary_is_refused(whole: bytes, tmp_path: Path) -> None:
    _, _, sections, _, blob_at, blobs, _, section_at, _ = CAPTURE.struct.unpack_from(whole)
    boundaries = {0, CAPTURE.size, blob_at, section_at}
    boundaries |= {blob_at + i * BLOB.size for i in range(blobs)}
    boundaries |= {BLOB.struct.unpack_from(whole, blob_at + i * BLOB.size)[1] for i in range(blobs)}
    boundaries |= {section_at + i * SECTION.size for i in range(sections)}
    boundaries |= {at + off for at in boundaries for off in (-1, 1)} | set(range(0, len(whole), 397))
    path = tmp_path / "x.ncap"
    for size in boundaries & set(range(len(whole))):
        path.write_bytes(whole[:size])
        refused(path)


def test_file_with_trailing_bytes_is_refused(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.ncap").write_bytes(whole + b"\0")
    assert "bytes long" in refused(tmp_path / "x.ncap")


def test_random_bytes_are_refused(tmp_path: Path) -> None:
    generator, path = random.Random(1), tmp_path / "x.ncap"
    for _ in range(60):
        raw = generator.randbytes(generator.randrange(600))
        if generator.random() < 0.8:
            raw = struct.pack("<QII", CAPTURE_MAGIC, VERSION, generator.randrange(70)) + raw
        path.write_bytes(raw)
        refused(path)


def one_quick(values: Iterable[object]) -> list[Any]:
    """The first value for a quick test, the others for the full tier."""
    return [
        pytest.param(each, marks=[pytest.mark.full] if number else []) for number, each in enumerate(values)
    ]


@pytest.mark.parametrize("name", one_quick(captures.CAPTURES))
def test_tables_mutated_with_valid_hashes_open_or_are_refused(name: str, tmp_path: Path) -> None:
    """Bytes of the header, blob table and section table are changed, and their hash is recomputed."""
    whole = captures.CAPTURES[name](tmp_path / "whole.ncap").read_bytes()
    path, generator = tmp_path / "x.ncap", random.Random(name)
    blob_at = CAPTURE.struct.unpack_from(whole)[4]
    for _ in range(60):
        raw = bytearray(whole)
        for _ in range(generator.randint(1, 3)):
            at = generator.choice([generator.randrange(8, 48), generator.randrange(blob_at, len(raw))])
            raw[at] = generator.choice([0, 1, 0x7F, 0xFF, generator.randrange(256)])
        with contextlib.suppress(struct.error):
            raw[:] = resealed(raw)
        path.write_bytes(raw)
        try:
            with Capture.open(path) as capture:
                capture.check_blobs()
        except CaptureError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("kind", one_quick(kind for kind in Kind if kind is not Kind.DATA))
def test_elements_mutated_with_valid_hashes_open_or_are_refused(kind: Kind, tmp_path: Path) -> None:
    """Words of a table's structs are changed before the file is written, so that every hash is valid."""
    generator = random.Random(int(kind))
    for number in range(20):

        class Mutating(captures.Builder):
            def add_raw(self, kind_: Kind, raw: bytes) -> int:
                mutated = bytearray(raw)
                if kind_ is kind:
                    value = generator.choice([0, 1, 2, 0xFFFFFFFF, 1 << 31, generator.randrange(1 << 32)])
                    struct.pack_into("<I", mutated, generator.randrange(0, len(raw), 4), value)
                return super().add_raw(kind_, bytes(mutated))

        path = tmp_path / f"{number}.ncap"
        build = generator.choice(list(captures.CAPTURES.values()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(captures, "Builder", Mutating)
            build(path)
        try:
            with Capture.open(path) as capture:
                capture.check_blobs()
        except CaptureError as error:
            assert "\n" not in str(error) and str(path) in str(error)


def test_small_file_of_huge_tables_is_refused_in_little_memory(tmp_path: Path) -> None:
    """Tables of the greatest length share one blob of zeros: a file of some KiB describes gigabytes."""
    zeros = bytes(BLOB_MAX)
    blob = (
        hashlib.sha256(zeros).digest(),
        zstandard.ZstdCompressor(write_checksum=True).compress(zeros),
        BLOB_MAX,
    )
    path = sealed(tmp_path / "x.ncap", [blob] * 256, [(2, 80, (256 << 20) // 80, 0, 256)])
    assert path.stat().st_size < 50_000
    refused(path)
    sections = [
        (kind, size, (256 << 20) // size, 0, 256) for kind, size in ((3, 16), (17, 32), (11, 24), (9, 32))
    ]
    path = sealed(tmp_path / "y.ncap", [blob] * 256, sections)
    program = "import resource, benchguard; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
    program += f"try: benchguard.Capture.open({str(path)!r})\nexcept benchguard.CaptureError as e: print(e)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=True, cwd=ROOT
    )
    assert "more than" in result.stdout and "\n" not in result.stdout.strip()


def test_frame_larger_than_its_blob_is_refused(tmp_path: Path) -> None:
    """A zstd frame of 16 bytes whose header announces 1 TiB."""
    frame = (
        b"\x28\xb5\x2f\xfd"
        + bytes([0b11100100])
        + (1 << 40).to_bytes(8, "little")
        + b"\x01\x00\x00"
        + bytes(4)
    )
    altered = Altered(captures.saxpy_capture(tmp_path / "whole.ncap"))
    blob = altered.blobs[altered.section(Kind.DATA).first_blob]
    blob.stored, blob.compression = frame, Compression.ZSTD
    assert "has another size than its frame declares" in refused(altered.write(tmp_path / "x.ncap"))


def test_capture_beyond_its_limits_is_refused(tmp_path: Path) -> None:
    path = captures.saxpy_capture(tmp_path / "x.ncap")
    with pytest.raises(CaptureError, match="at most 100 are allowed"):
        Capture.open(path, Limits(table_bytes=100))
    with pytest.raises(CaptureError, match="more than 3 elements"):
        Capture.open(path, Limits(elements=3))
    with Capture.open(path, Limits(content_bytes=1000)) as capture:
        assert len(capture.memory(captures.ARENA, 1000)) == 1000
        with pytest.raises(CaptureError, match="1001 bytes at once"):
            capture.memory(captures.ARENA, 1001)


def test_path_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="No such file"):
        Capture.open(tmp_path / "x.ncap")
    with pytest.raises(CaptureError, match="not a file"):
        Capture.open(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CaptureError, match="not a file"):
        Capture.open(tmp_path / "pipe")


def test_writer_on_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk."""
    program = (
        "import resource, signal, sys\nfrom pathlib import Path\nfrom benchguard.capture import CaptureError\n"
        "from tests.support.captures import saxpy_capture\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try: saxpy_capture(Path(sys.argv[1]))\nexcept CaptureError as e: print(e)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "x.ncap")],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert "cannot write the capture" in result.stdout and "File too large" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_writer_interrupted_by_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.ncap"
    path.write_bytes(b"what was there")
    with pytest.raises(ZeroDivisionError), CaptureWriter(path) as writer:
        writer.content(b"x" * 100)
        raise ZeroDivisionError
    assert path.read_bytes() == b"what was there" and list(tmp_path.iterdir()) == [path]
