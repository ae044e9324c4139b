"""The sandboxed validator as Python calls it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError, validate
from benchguard.capture.codec import MalformedError
from benchguard.capture.layout import Compression, Kind
from tests.conftest import ROOT
from tests.support.altered import Altered, compressed
from tests.support.captures import CAPTURES, saxpy_capture
from tests.unit.replay.support import PROGRAMS, Compiler


@pytest.mark.parametrize("name", CAPTURES)
def test_tables_of_a_valid_capture_match_the_file(name: str, tmp_path: Path) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    altered = Altered(path)
    with path.open("rb") as file:
        result = validate.validate(file.fileno(), validate.Limits())
    assert result.tables == {Kind(each.kind): altered.table(Kind(each.kind)) for each in altered.sections}


def test_capture_opens_while_other_threads_allocate(tmp_path: Path) -> None:
    """The validator's process is forked from a program with threads, whose locks it inherits."""
    path = saxpy_capture(tmp_path / "x.ncap")
    ended = threading.Event()

    def allocate() -> None:
        while not ended.is_set():
            [bytearray(size) for size in range(0, 200_000, 1000)]

    threads = [threading.Thread(target=allocate) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            Capture.open(path).close()
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_forged_validator_output_is_a_capture_error(tmp_path: Path, compile_c: Compiler) -> None:
    """A decompressor that took over the process writes ahead of the tables."""
    library = compile_c("hostile_zstd.so", PROGRAMS / "hostile_zstd.c", flags=("-D_GNU_SOURCE",))
    (tmp_path / "libzstd.so.1").symlink_to(library)
    altered = Altered(saxpy_capture(tmp_path / "x.ncap"))
    altered.replace_table(Kind.LIMIT, bytes(1 << 16))
    altered.blobs[-1].stored, altered.blobs[-1].compression = compressed(bytes(1 << 16)), Compression.ZSTD
    path = altered.write(tmp_path / "framed.ncap")
    program = (
        "import sys, benchguard\n"
        "try: benchguard.Capture.open(sys.argv[1])\n"
        "except benchguard.CaptureError as error: print(error)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(tmp_path),
            "HOSTILE_ZSTD": "write",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert "incomplete" in result.stdout


def test_validator_that_cannot_be_loaded_is_a_capture_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "REPLAY", tmp_path / "missing.so")
    validate._validator.cache_clear()
    try:
        with pytest.raises(CaptureError, match="cannot be loaded"):
            Capture.open(saxpy_capture(tmp_path / "x.ncap"))
    finally:
        validate._validator.cache_clear()


@pytest.mark.parametrize("size", [0, 79, 200, 1000])
def test_output_cut_short_is_malformed(size: int, tmp_path: Path) -> None:
    altered = Altered(saxpy_capture(tmp_path / "x.ncap"))
    raw = altered.write(tmp_path / "y.ncap").read_bytes()
    with pytest.raises(MalformedError):
        validate._split(raw[:size])
