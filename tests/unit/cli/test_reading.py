"""Reading a log in a command: the bar of long readings, and the line that tells what a log lacks."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchguard.audit.log import REPORT_LINES, LogWriter
from benchguard.cli import reading
from benchguard.cli.main import cli
from tests.support.waiting import wait_until

SESSION = b'{"kind":"session","format":"neutrino-bench/audit/1"}'
CALL = b'{"kind":"note"}'


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def write_log(folder: Path, name: str, end: bytes, lines: int = 3 * REPORT_LINES) -> Path:
    writer = LogWriter(folder / name)
    for line in (SESSION, *[CALL] * lines, end):
        writer.write(line)
    writer.close()
    return writer.path


@pytest.mark.parametrize("name", ["x.audit.jsonl", "x.audit.jsonl.zst"])
def test_long_reading_has_a_bar_on_a_terminal_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = write_log(tmp_path, name, b'{"kind":"end"}')
    monkeypatch.setattr(reading, "SHOWN_AFTER_SECONDS", 0.0)
    terminal, pipe = Terminal(), io.StringIO()
    lines = list(reading.lines_of(path, terminal))
    assert list(reading.lines_of(path, pipe)) == lines and len(lines) == 3 * REPORT_LINES + 2
    assert f"reading {name}" in terminal.getvalue()
    assert pipe.getvalue() == ""


def test_long_rendering_has_a_bar_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SHOWN_AFTER_SECONDS", 0.0)
    terminal, pipe = Terminal(), io.StringIO()
    with reading.busy("rendering x.html", terminal):
        wait_until(lambda: "rendering x.html" in terminal.getvalue())
    with reading.busy("rendering x.html", pipe):
        pass
    assert pipe.getvalue() == ""


def test_short_rendering_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SHOWN_AFTER_SECONDS", 1000.0)
    terminal = Terminal()
    with reading.busy("rendering x.html", terminal):
        pass
    assert terminal.getvalue() == ""


def test_short_reading_has_no_bar(tmp_path: Path) -> None:
    terminal = Terminal()
    list(reading.lines_of(write_log(tmp_path, "x.audit.jsonl", b'{"kind":"end"}'), terminal))
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (b'{"kind":"end","complete":true,"dropped":0}', "complete"),
        (
            b'{"kind":"end","complete":false,"dropped":7,"truncated":true}',
            "INCOMPLETE, records dropped: 7, lines beyond",
        ),
        (b'{"kind":"end","complete":"\\u001b[2J","dropped":"x"}', "INCOMPLETE"),
        (
            b'{"kind":"end","complete":true,"unobserved":["7 env -i ./program"]}',
            "complete, processes without the shim: 1",
        ),
    ],
)
def test_verify_log_says_what_was_lost(tmp_path: Path, end: bytes, said: str) -> None:
    path = write_log(tmp_path, "x.audit.jsonl", end, 1)
    ran = CliRunner().invoke(cli, ["verify-log", str(path)], standalone_mode=False)
    first, second = ran.output.splitlines()
    assert "3 lines, chain valid" in first
    assert second.startswith(f"{path}: {said}")


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (
            '"only_calls":["cuMem*","cuInit"],"no_lookups":true',
            "--calls cuMem* --calls cuInit --no-lookups: 4,000",
        ),
        ('"no_lookups":true', "--no-lookups: 4,000"),
        ('"only_calls":["\\u001b[2J"]', "--calls \\x1b[2J: 4,000"),
        ('"only_calls":7,"no_lookups":"yes"', None),
    ],
)
def test_verify_log_says_what_was_not_asked_for(tmp_path: Path, session: str, said: str | None) -> None:
    writer = LogWriter(tmp_path / "x")
    writer.write(SESSION[:-1] + b"," + session.encode() + b"}")
    writer.write(b'{"kind":"end","complete":true,"calls_left_out":4000}')
    writer.close()
    _, losses, *more = CliRunner().invoke(cli, ["verify-log", str(writer.path)]).output.splitlines()
    assert losses == f"{writer.path}: complete"
    assert more == ([] if said is None else [f"{writer.path}: {said} successful calls have no line"])
