"""The engine's reader of captures: what it reads, what it can be made to spend, and what whoever takes over its
decoders can do, which is nothing."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from threading import Timer

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import BLOB_MAX, Compression, Kind
from tests.support.altered import Altered, Blob, compressed
from tests.support.captures import CAPTURES, saxpy_capture
from tests.unit.replay.support import (
    PROGRAMS,
    READER_FLAGS,
    Compiler,
    Reader,
    compile_reader,
    reader_sources,
)

BAD_CAPTURE, CANNOT = 1, 3


@pytest.fixture(scope="module")
def read(compile_c: Compiler) -> Reader:
    """Its decoders have two seconds rather than a minute."""
    return compile_reader(compile_c, "impatient", ("-DNB_DECODE_SECONDS=2",))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return saxpy_capture(tmp_path / "saxpy.ncap")


@pytest.fixture
def with_frame(tmp_path: Path, capture: Path) -> Path:
    """A capture whose last blob needs libzstd: a table of 64 KiB of zeros."""
    altered = Altered(capture)
    altered.replace_table(Kind.LIMIT, bytes(1 << 16))
    frame = altered.blobs[-1]
    frame.stored, frame.compression = compressed(frame.raw), Compression.ZSTD
    return altered.write(tmp_path / "framed.ncap")


@pytest.fixture
def hostile(compile_c: Compiler, tmp_path: Path) -> dict[str, str]:
    library = compile_c("hostile_zstd.so", PROGRAMS / "hostile_zstd.c", flags=("-D_GNU_SOURCE",))
    (tmp_path / "libzstd.so.1").symlink_to(library)
    return {"LD_LIBRARY_PATH": str(tmp_path)}


@pytest.mark.parametrize("how", ["", "filtered"], ids=["strict mode", "filter"])
@pytest.mark.parametrize("decoders", [0, 1, 3, 1000])
def test_decoded_contents_match_the_file(tmp_path: Path, read: Reader, decoders: int, how: str) -> None:
    """saxpy of a million: contents of several blobs, compressed and not."""
    path = saxpy_capture(tmp_path / "large.ncap", 1_000_000)
    answer = read(path, decoders=decoders, how=how)
    with Capture.open(path) as capture:
        runs = [("before", run) for run in capture.before] + [("after", run) for run in capture.after]
        contents = [("image", capture.content(image.content)) for image in capture.images]
        contents += [(name, capture.content(run.content)) for name, run in runs]
        expected = [f"{name} {hashlib.sha256(raw).hexdigest()[:8]}" for name, raw in contents]
    assert answer.status == 0
    assert answer.content.splitlines()[2:-1] == expected


def test_content_of_several_blobs_is_contiguous(capture: Path, tmp_path: Path, read: Reader) -> None:
    altered = Altered(capture)
    raw = os.urandom(2 * BLOB_MAX + 5)
    first = len(altered.blobs)
    altered.blobs += [Blob(raw[at : at + BLOB_MAX]) for at in range(0, len(raw), BLOB_MAX)]
    altered.set(Kind.IMAGE, 0, "content", first, len(raw))
    altered.set(Kind.IMAGE, 0, "sha256", hashlib.sha256(raw).digest())
    answer = read(altered.write(tmp_path / "image.ncap"))
    assert f"image {hashlib.sha256(raw).hexdigest()[:8]}" in answer.content.splitlines()
    altered.set(Kind.IMAGE, 0, "sha256", hashlib.sha256(raw[1:]).digest())
    assert "image 0: its bytes" in read(altered.write(tmp_path / "image.ncap")).line


@pytest.mark.parametrize("what", ["/dev/null", "/dev/zero", "/", "/nonexistent"])
def test_path_that_is_not_a_file_is_refused(what: str, read: Reader) -> None:
    assert read(Path(what)).status in {BAD_CAPTURE, 6}


@pytest.mark.parametrize("name", ["graph", "global"])
def test_file_cut_anywhere_is_refused(name: str, compile_c: Compiler, tmp_path: Path) -> None:
    path = CAPTURES[name](tmp_path / "whole.ncap")
    program = compile_c("cut_capture", PROGRAMS / "cut_capture.c", *reader_sources(), flags=READER_FLAGS)
    result = subprocess.run([program, path], capture_output=True, text=True, timeout=240, check=True)
    both = 2 * path.stat().st_size
    assert result.stdout == f"{both} of {both}\n"


# ---- limits -----------------------------------------------------------------------------------------------


def test_small_file_of_many_blobs_is_refused_by_the_memory_limit(
    capture: Path, tmp_path: Path, read: Reader
) -> None:
    """A frame of a mebibyte of zeros is about 50 bytes, and every blob may be the same one."""
    altered = Altered(capture)
    zeros = bytes(BLOB_MAX)
    digest = hashlib.sha256(zeros).digest()
    first = Blob(zeros, compressed(zeros), Compression.ZSTD, sha256=digest)
    altered.blobs.append(first)
    offset = 80 + sum(len(blob.raw) for blob in altered.blobs[:-1])
    altered.blobs += [
        Blob(zeros, b"", 1, offset, len(first.stored or b""), sha256=digest) for _ in range(5000)
    ]
    path = altered.write(tmp_path / "zeros.ncap")
    assert path.stat().st_size < 300_000
    answer = read(path, host_bytes=64 << 20)
    assert answer.status == BAD_CAPTURE
    assert "bytes when decompressed; at most 67108864 are allowed" in answer.line


def test_kibibyte_file_declaring_a_tebibyte_is_refused(read: Reader, tmp_path: Path, capture: Path) -> None:
    """Wherever it says so: in the header, of a blob, of a section, of an allocation."""
    tebibyte = 1 << 40

    def ask(change: str) -> Altered:
        altered = Altered(capture)
        altered.blobs = altered.blobs[:4]
        if change == "file":
            altered.header["file_bytes"] = tebibyte
        elif change == "blobs":
            altered.header["blob_count"] = (1 << 24) - 1
        elif change == "section":
            altered.section(Kind.BEFORE).count = tebibyte // 32
        return altered

    for change in ("file", "blobs", "section"):
        path = ask(change).write(tmp_path / f"{change}.ncap")
        os.truncate(path, 1024)
        assert read(path).status == BAD_CAPTURE
    altered = Altered(capture)
    altered.set(Kind.ALLOCATION, 1, "bytes", tebibyte)
    answer = read(altered.write(tmp_path / "allocation.ncap"), device_bytes=1 << 36)
    assert answer.status == BAD_CAPTURE
    assert "larger than the 68719476736 bytes of device memory allowed" in answer.line


def test_allocations_at_one_address_count_once(read: Reader, tmp_path: Path, capture: Path) -> None:
    altered = Altered(capture)
    altered.append(Kind.ALLOCATION, 100 * altered.table(Kind.ALLOCATION))
    path = altered.write(tmp_path / "again.ncap")
    assert read(path, device_bytes=8192).status == 0
    assert read(path, device_bytes=8191).status == BAD_CAPTURE


def test_images_of_one_content_are_bounded_in_total(read: Reader, tmp_path: Path, capture: Path) -> None:
    altered = Altered(capture)
    altered.append(Kind.IMAGE, 5000 * altered.table(Kind.IMAGE))
    path = altered.write(tmp_path / "images.ncap")
    assert "the images are larger than allowed" in read(path, host_bytes=2 << 20).line


@pytest.mark.parametrize("how", ["", "tables"])
def test_elements_beyond_the_limit_are_refused(read: Reader, tmp_path: Path, how: str) -> None:
    path = CAPTURES["streams"](tmp_path / "streams.ncap")
    with Capture.open(path) as capture:
        counted = set(Kind) - {Kind.DATA, Kind.BEFORE, Kind.AFTER}
        elements = sum(len(capture.table(kind)) for kind in counted)
    assert read(path, elements=elements, how=how).status == 0
    assert read(path, elements=elements - 1, how=how).line == f"more than {elements - 1} elements"


# ---- decoders ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["", "filtered"], ids=["strict mode", "filter"])
@pytest.mark.parametrize(
    ("doing", "signal"), [("call", (9, 31)), ("open", (9, 31)), ("crash", (11, 11))], ids=str
)
def test_decoder_making_a_system_call_is_killed(
    doing: str, signal: tuple[int, int], how: str, with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    """And the line names the blob: SIGKILL in strict mode, SIGSYS by the filter."""
    answer = read(with_frame, how=how, environment={**hostile, "HOSTILE_ZSTD": doing})
    blob = len(Altered(with_frame).blobs) - 1
    assert answer.status == BAD_CAPTURE
    assert answer.line.startswith(f"blob {blob} killed its decoder (signal {signal[how != '']},")


@pytest.mark.parametrize(
    ("doing", "line"),
    [
        ("call", "its tables killed the reader's process (signal 9, Killed)"),
        ("open", "its tables killed the reader's process (signal 9, Killed)"),
        ("crash", "its tables killed the reader's process (signal 11, Segmentation fault)"),
        ("end", "its tables ended the reader's process"),
        ("spin", "its tables were not checked in 2 s"),
    ],
)
def test_validator_taken_over_by_its_decompressor_refuses_the_capture(
    doing: str, line: str, with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    answer = read(with_frame, how="tables", environment={**hostile, "HOSTILE_ZSTD": doing})
    assert (answer.status, answer.line) == (BAD_CAPTURE, line)


@pytest.mark.parametrize("how", ["", "tables"])
def test_hostile_library_that_decompresses_correctly_is_accepted(
    with_frame: Path, hostile: dict[str, str], read: Reader, how: str
) -> None:
    """Control: the library is loaded, and its zeros are what the blob holds."""
    assert read(with_frame, how=how, environment=hostile).status == 0


def test_decoder_status_is_known_with_sigchld_ignored(
    capture: Path, with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    assert read(capture, how="childless").status == 0
    answer = read(with_frame, how="childless", environment={**hostile, "HOSTILE_ZSTD": "crash"})
    assert "killed its decoder" in answer.line


def test_decoder_writing_to_all_descriptors_changes_nothing(
    with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    """The decoder writes to all descriptors; the reader's output does not change."""
    answer = read(with_frame, environment={**hostile, "HOSTILE_ZSTD": "write"})
    assert answer == read(with_frame)


def test_decoder_ending_early_leaves_only_checked_tables(
    with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    """Its blob stays zero. Another decoder decodes the other blobs, or the tables stay zero."""
    answer = read(with_frame, decoders=1, environment={**hostile, "HOSTILE_ZSTD": "end"})
    assert answer.status == 0  # the frame is the last blob, and of zeros


def test_endless_decoder_is_killed(with_frame: Path, hostile: dict[str, str], read: Reader) -> None:
    answer = read(with_frame, environment={**hostile, "HOSTILE_ZSTD": "spin"})
    assert (answer.status, answer.line) == (BAD_CAPTURE, "its blobs were not decoded in 2 s")


def test_file_truncated_while_read_kills_only_the_decoder(
    with_frame: Path, hostile: dict[str, str], read: Reader
) -> None:
    timer = Timer(0.5, os.truncate, (with_frame, 0))
    timer.start()
    answer = read(with_frame, environment={**hostile, "HOSTILE_ZSTD": "wait"})
    timer.join()
    assert answer.status == BAD_CAPTURE
    assert "killed its decoder (signal 7," in answer.line


def test_capture_without_seccomp_is_not_read(capture: Path, read: Reader) -> None:
    answer = read(capture, how="forbidden")
    assert answer.status == CANNOT
    assert "refuses seccomp" in answer.line


def test_missing_libzstd_error_names_the_package(capture: Path, tmp_path: Path, read: Reader) -> None:
    (tmp_path / "libzstd.so.1").write_text("no library")
    answer = read(capture, environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert answer.status == CANNOT
    assert "libzstd.so.1 cannot be loaded" in answer.line
    assert "libzstd1" in answer.line


def test_libzstd_without_the_functions_is_refused(
    capture: Path, tmp_path: Path, read: Reader, compile_c: Compiler
) -> None:
    flags = ("-D_GNU_SOURCE", "-DZSTD_decompressDCtx=other_name")
    library = compile_c("old_zstd.so", PROGRAMS / "hostile_zstd.c", flags=flags)
    (tmp_path / "libzstd.so.1").symlink_to(library)
    answer = read(capture, environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert (answer.status, "too old" in answer.line) == (CANNOT, True)


# ---- hashes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 65535])
def test_hashes_are_sha256(size: int, compile_c: Compiler) -> None:
    program = compile_c(
        "hash", PROGRAMS / "hash.c", *(p for p in reader_sources() if "sha256" in p.name), flags=READER_FLAGS
    )
    raw = os.urandom(size)
    result = subprocess.run([program], input=raw, capture_output=True, timeout=240, check=True)
    digest, blocks = result.stdout.decode().split()
    assert digest == hashlib.sha256(raw).hexdigest()
    assert blocks in {"same", "none"}
