"""The hash chain: verification names the first line that was changed."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from benchguard import LogError, read_log, verify_log
from benchguard.audit.log import FORMAT, LogWriter
from benchguard.errors import BenchguardError

LINES = [
    b'{"kind":"session","format":"%s"}' % FORMAT.encode(),
    *(b'{"kind":"call","n":%d}' % n for n in range(5)),
]
END = b'{"kind":"end"}'


def write(path: Path, lines: list[bytes]) -> Path:
    log = LogWriter(path)
    for line in lines:
        log.write(line)
    log.close()
    assert log.error is None
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "a.jsonl", [*LINES, END])


def test_intact_log_verifies(log: Path) -> None:
    assert verify_log(log).lines == 7
    assert [line["kind"] for line in read_log(log)] == ["session", *["call"] * 5, "end"]


def test_altered_line_named(log: Path) -> None:
    log.write_bytes(log.read_bytes().replace(b'"n":2', b'"n":9'))
    with pytest.raises(LogError, match="line 5: does not match the hash of the previous line"):
        verify_log(log)


@pytest.mark.parametrize(
    ("removed", "named"), [(0, "line 1: not "), (3, "line 4: does not"), (6, "cut short here")]
)
def test_removed_line_detected(log: Path, removed: int, named: str) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:removed] + lines[removed + 1 :]))
    with pytest.raises(LogError, match=named):
        verify_log(log)


@pytest.mark.parametrize(
    ("added", "named"),
    [
        (b'{"kind":"call","previous":"' + b"0" * 64 + b'"}\n', "continues after its end line"),
        (b"{", "incomplete line"),
        (b"x\n", "not JSON"),
        (b'{"\xff":1}\n', "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"kind":"end","time_ns":1' + b"0" * 400 + b"}\n", "a number has more than 128 bits"),
    ],
)
def test_added_line_detected(log: Path, added: bytes, named: str) -> None:
    log.write_bytes(log.read_bytes() + added)
    with pytest.raises(LogError, match=named):
        verify_log(log)


def test_truncated_log_distinguished_from_altered(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cut short here; the lines before are intact"):
        verify_log(write(tmp_path / "b.jsonl", LINES))


@pytest.mark.parametrize("content", [b"", b"hello\n", b"[]\n", b'{"kind":"session"}\n'])
def test_other_files_refused_as_log(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(LogError):
        verify_log(path)


def test_existing_log_not_overwritten(log: Path) -> None:
    before = log.read_bytes()
    with pytest.raises(BenchguardError, match="exists already; give another --log, or --force"):
        LogWriter(log)
    assert log.read_bytes() == before


def test_log_of_running_run_is_not_replaced(tmp_path: Path) -> None:
    """Two runs with --force and one path: the second one is refused, and the first log stays valid."""
    path = tmp_path / "e.jsonl"
    first = LogWriter(path, replace=True)
    first.write(LINES[0])
    first.flush()
    with pytest.raises(BenchguardError, match=r"another run is writing the log .*; give another --log"):
        LogWriter(path, replace=True)
    first.write(END)
    first.close()
    assert verify_log(path).lines == 2
    LogWriter(path, replace=True).close()
    assert path.read_bytes() == b""


def test_full_disk_keeps_written_lines(tmp_path: Path) -> None:
    """The file may not grow beyond 4 KiB: lines before the limit stay, the writer says what to do."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = LogWriter(tmp_path / "d.jsonl")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        for number in range(100):
            log.write(b'{"kind":"call","n":%d}' % number)
            log.flush()
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert log.error is not None
    assert "free some space or give another --log" in log.error
    assert len((tmp_path / "d.jsonl").read_bytes()) == 4096


def test_write_to_dev_full_reported(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    log = LogWriter(link, replace=True)
    log.write(LINES[0])
    log.close()
    assert log.error is not None and "No space left" in log.error
