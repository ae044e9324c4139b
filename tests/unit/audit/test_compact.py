"""Compact logs: readers get the lines of the JSON log byte for byte, or an error that names the place."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from benchguard import LogError, read_log, verify_log
from benchguard.audit.chain import LINE_MAX
from benchguard.audit.compact import PIECE_BYTES, Expander, read_lines
from benchguard.audit.follow import follow_lines, has_writer
from benchguard.audit.log import LogWriter
from benchguard.audit.summary import summarise
from benchguard.audit.typed_log import LogEntries, end_time
from benchguard.ipc.json_text import json_line
from tests.support.log_lines import call, end, launch, session, write_log

LINES = [
    session(),
    *(launch(f"k{n}", None, None, time_ns=n) for n in range(50)),
    call("cuInit"),
    end(time_ns=60),
]


def expanded(path: Path) -> bytes:
    with path.open("rb") as file:
        return b"".join(read_lines(file, str(path)))


def recompressed(path: Path, old: bytes, new: bytes) -> None:
    text = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    assert old in text
    path.write_bytes(zstandard.compress(text.replace(old, new)))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "x.jsonl.zst", LINES)


def test_compact_log_has_the_lines_and_the_head_of_the_json_log(log: Path) -> None:
    json_log = write_log(log.with_name("y.jsonl"), LINES)
    assert expanded(log) == json_log.read_bytes()
    assert verify_log(log) == verify_log(json_log)
    assert log.stat().st_size * 10 < json_log.stat().st_size


def test_readers_of_compact_and_json_log_agree(log: Path) -> None:
    json_log = write_log(log.with_name("y.jsonl"), LINES)
    assert list(read_log(log)) == list(read_log(json_log))
    assert summarise(log).to_json() == summarise(json_log).to_json()
    assert end_time(log) == end_time(json_log) == 60
    entries = LogEntries(log)
    assert len(list(entries)) == len(LINES) and not entries.problem


def test_altered_line_of_a_compact_log_is_named_by_its_checkpoint(log: Path) -> None:
    recompressed(log, b'"name":"k7"', b'"name":"k8"')
    with pytest.raises(LogError, match="lines 1 to 53: do not match the hash of their checkpoint"):
        verify_log(log)


def test_altered_byte_of_a_compact_log_is_refused(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    with pytest.raises(LogError):
        verify_log(log)


def test_bytes_after_the_frame_are_refused(log: Path) -> None:
    log.write_bytes(log.read_bytes() + zstandard.compress(b"{}\n"))
    with pytest.raises(LogError, match="bytes were added"):
        verify_log(log)


def test_compact_log_is_followed_while_it_is_written(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x.zst")
    lines = follow_lines(log.path, lambda: False)
    assert next(lines) is None and has_writer(log.path)
    for line in (session(), call("cuInit"), end()):
        log.write(json_line(line))
        log.flush()
        while (got := next(lines)) is None:
            pass
        assert got["kind"] == line["kind"]
    assert next(lines, "over") == "over"
    log.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from benchguard.audit.log import LogWriter
from benchguard.ipc.json_text import json_line
from tests.support.log_lines import call, session
log = LogWriter(Path(sys.argv[1]))
log.write(json_line(session()))
for n in range(9):
    log.write(json_line(call("cuInit", n)))
log.flush()
log.write(json_line(call("cuLost")))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_writer_loses_what_was_not_flushed_and_readers_say_so(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    status = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode
    assert status == -signal.SIGKILL
    entries = LogEntries(path)
    assert len(list(entries)) == 10
    assert "line 10: the log has no end line, so it was cut short here" in entries.problem


def test_log_cut_at_any_byte_gives_a_prefix(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    log = LogWriter(path)
    for line in LINES:
        log.write(json_line(line))
        log.flush()
    log.close()
    whole, data = expanded(path), path.read_bytes()
    for size in range(1, len(data), 37):
        lines = b"".join(Expander("x").feed(data[:size]))
        assert whole.startswith(lines)


@pytest.mark.parametrize("text", [b" " * (64 << 20), b'{"kind":"call"}\n' * (1 << 20)])
def test_decompression_bomb_is_refused_in_bounded_memory(tmp_path: Path, text: bytes) -> None:
    bomb = tmp_path / "x.zst"
    bomb.write_bytes(zstandard.compress(text))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LogError, match=r"not an audit log|no checkpoint follows"):
        expanded(bomb)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < PIECE_BYTES * (
        32 << 10
    ) + 8 * LINE_MAX


def test_window_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path = tmp_path / "x.zst"
    path.write_bytes(stream.compress(b"{}\n") + stream.flush())
    with pytest.raises(LogError, match="not a zstd frame"):
        expanded(path)


def test_random_mutations_end_in_lines_or_a_log_error(log: Path) -> None:
    draw, data = random.Random(34), log.read_bytes()
    whole = expanded(log)
    for _ in range(400):
        mutant = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            mutant[draw.randrange(len(mutant))] = draw.randrange(256)
        try:
            lines = b"".join(Expander("x").feed(bytes(mutant)))
        except LogError:
            continue
        assert whole.startswith(lines)


def test_full_disk_stops_a_compact_log_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "full.zst"
    path.symlink_to("/dev/full")
    log = LogWriter(path, replace=True)
    log.write(json_line(session()))
    log.close()
    assert log.error is not None and "No space left" in log.error


def test_text_of_the_frame_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    log = LogWriter(path)
    log.write(b'{"kind":"session","format":"neutrino-bench/audit/1"}')
    log.write(b'{"kind":"note","text":"a"}')
    log.close()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()) == (
        b'{"kind":"session","format":"neutrino-bench/audit/1"}\n'
        b'{"kind":"note","text":"a"}\n'
        b'{"chain":"37fb4e5045b19c2066abb6f42dad5eabd5552abc16bfb5b1964bbb7c5d331d88"}\n'
    )
