"""neutrino-bench inspect LOG --lines: the lines by their numbers, or one line that says why not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchguard import LogError
from benchguard.cli.main import cli
from benchguard.errors import UsageError
from tests.support import captures
from tests.support.log_lines import call, end, session, write_log

COUNT = 9
LINES = [session(), *(call("cuInit", n) for n in range(COUNT - 2)), end()]


@pytest.fixture(params=["x.audit.jsonl", "x.audit.jsonl.zst"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_log(tmp_path / request.param, LINES)


def inspect(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["inspect", *map(str, arguments)])


@pytest.mark.parametrize(
    ("span", "first", "last"),
    [("4", 4, 4), ("4:6", 4, 6), ("8:", 8, 9), (":2", 1, 2), ("-3:", 7, 9), ("-99:", 1, 9), ("8:99", 8, 9)],
)
def test_span_shows_its_lines_with_their_numbers(log: Path, span: str, first: int, last: int) -> None:
    result = inspect(log, "--lines", span)
    assert result.exit_code == 0, result.output
    whole = [json.loads(line) for line in inspect(log, "--lines", "1:").stdout.splitlines()]
    assert [json.loads(line) for line in result.stdout.splitlines()] == whole[first - 1 : last]
    assert [line["line"] for line in whole] == list(range(1, COUNT + 1))
    assert whole[3]["arguments"] == {} and len(whole[3]["previous"]) == 64


@pytest.mark.parametrize("span", ["0", "0:4", "5:4", "-3", "a", "", "1:2:3", "-0:", "9" * 30, "1-2"])
def test_text_that_is_not_a_span_is_refused(log: Path, span: str) -> None:
    result = inspect(log, "--lines", span)
    assert result.exit_code == 2 and "is not a span of lines" in result.output


def test_line_beyond_the_end_is_refused_with_the_number_of_lines(log: Path) -> None:
    result = inspect(log, "--lines", "10:20")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).endswith("has 9 lines, and no line 10; give another --lines")


def test_line_that_was_altered_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "x", LINES)
    log.write_bytes(log.read_bytes().replace(b'"time_ns":4', b'"time_ns":5'))
    result = inspect(log, "--lines", "5:9")
    assert isinstance(result.exception, LogError) and "line 7: does not match" in str(result.exception)


def test_control_characters_of_a_log_are_escaped(tmp_path: Path) -> None:
    log = write_log(tmp_path / "x", [session(command=["a\u202e"]), end()])
    data = log.read_bytes().replace(b"\\u202e", "\u202e".encode())
    log.write_bytes(data)
    assert "\\u202e" in inspect(log, "--lines", "1").stdout


def test_lines_of_other_files_and_other_options_are_refused(log: Path) -> None:
    result = inspect(log, "--lines", "1", "--json")
    assert isinstance(result.exception, UsageError) and "without other options" in str(result.exception)
    capture = captures.saxpy_capture(log.with_name("x.ncap"))
    result = inspect(capture, "--lines", "1")
    assert isinstance(result.exception, UsageError) and "no effect on a capture" in str(result.exception)


def test_reader_that_ends_early_is_no_error(tmp_path: Path) -> None:
    log = write_log(tmp_path / "x", [session(), *(call("cuInit", n) for n in range(5000)), end()])
    command = [sys.executable, "-m", "benchguard", "inspect", str(log), "--lines", "1:"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["line"] == 1
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_log_in_a_pipe_is_refused() -> None:
    command = [sys.executable, "-m", "benchguard", "inspect", "/dev/stdin", "--lines", "1"]
    first = json.dumps(session(), separators=(",", ":")).encode()
    result = subprocess.run(command, input=first, capture_output=True, timeout=120, check=False)
    assert result.returncode == 2 and b"it is not a regular file" in result.stderr
