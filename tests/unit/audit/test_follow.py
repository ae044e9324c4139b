"""Reading a log that grows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.audit.follow import follow_lines, has_writer
from benchguard.audit.log import LogError, LogWriter, verify_log
from benchguard.ipc.json_text import json_line
from tests.support.log_lines import call, end, session, write_log


def test_lines_come_as_they_are_written(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x.jsonl")
    lines = follow_lines(log.path, lambda: False)
    assert next(lines) is None and has_writer(log.path)
    for line in (session(), call("cuInit"), end()):
        log.write(json_line(line))
        log.flush()
        got = next(lines)
        assert got is not None and got["kind"] == line["kind"]
    assert next(lines, "over") == "over"
    log.close()
    assert not has_writer(log.path)


def test_half_a_line_waits_for_its_rest(tmp_path: Path) -> None:
    whole = write_log(tmp_path / "whole.jsonl", [session(), call("cuInit"), end()]).read_bytes()
    path = tmp_path / "x.jsonl"
    path.write_bytes(whole[:100])
    lines = follow_lines(path, lambda: False)
    assert next(lines) is None
    with path.open("ab") as file:
        file.write(whole[100:])
    assert [line["kind"] for line in lines if line is not None] == ["session", "call", "end"]


def test_log_whose_writer_ended_is_over(tmp_path: Path) -> None:
    path = write_log(tmp_path / "x.jsonl", [session(), call("cuInit")])
    lines = follow_lines(path, lambda: not has_writer(path))
    assert [line["kind"] for line in lines if line is not None] == ["session", "call"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.replace(b"cuInit", b"cuFree"), "was altered or removed"),
        (lambda data: data[:-20], "incomplete line"),
        (lambda data: b"x" * 10 + data, "not an audit log"),
        (lambda data: b'{"kind":"x"' + data, "not JSON"),
        (lambda _: b"{}\n", "not an audit log"),
        (lambda _: b'{"kind":"session"}\n', "not a line of an audit log"),
    ],
)
def test_altered_log_is_refused(tmp_path: Path, change: object, message: str) -> None:
    path = write_log(tmp_path / "x.jsonl", [session(), call("cuInit"), end()])
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(LogError, match=message):
        list(follow_lines(path, lambda: True))


@pytest.mark.parametrize("read", [verify_log, lambda path: list(follow_lines(path, lambda: True))])
def test_pipe_without_a_writer_is_refused(
    tmp_path: Path, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To open it waited without an end."""
    monkeypatch.setattr("benchguard.audit.log.PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")
    assert not has_writer(tmp_path / "pipe")
    with pytest.raises(LogError, match="pipe: no program writes to this pipe; start its writer, or give a"):
        read(tmp_path / "pipe")


def test_pipe_whose_writer_comes_later_is_read(tmp_path: Path) -> None:
    log, pipe = write_log(tmp_path / "x.jsonl", [session(), call("cuInit"), end()]), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Timer(0.1, lambda: pipe.write_bytes(log.read_bytes()))
    writer.start()
    assert verify_log(pipe).lines == 3
    writer.join()


def test_pipe_with_an_idle_writer_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a shell's <(command), which has its writer from the beginning."""
    monkeypatch.setattr("benchguard.audit.log.PIPE_SECONDS", 0.0)
    data = write_log(tmp_path / "x.jsonl", [session(), end()]).read_bytes()
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "wb") as file:
        writer = threading.Timer(0.2, lambda: [file.write(data), file.close()])
        writer.start()
        assert verify_log(f"/dev/fd/{reading}").lines == 2
        writer.join()
