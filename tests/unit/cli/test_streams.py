"""Standard output that cannot be written: exit status 70, one line, no traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.cli import main
from tests.conftest import ROOT
from tests.support.log_lines import end, session, write_log

COMMANDS = [["--help"], ["--version"], ["completion", "bash"], ["observe", "--help"]]
LINE = "neutrino-bench: error: cannot write to standard output: "


def run(words: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$@" {redirection}'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "benchguard", *words]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=240, check=False, cwd=ROOT)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_unwritable_output_ends_with_70(words: list[str], redirection: str) -> None:
    result = run(words, redirection)
    assert result.returncode == 70
    assert result.stderr.startswith(LINE) and result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_closed_pipe_ends_with_70(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "benchguard", *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=240,
            check=False,
            cwd=ROOT,
        )
    finally:
        os.close(writing)
    assert result.returncode == 70
    assert result.stderr.startswith(f"{LINE}Broken pipe") and result.stderr.count("\n") == 1


def test_command_in_removed_folder_names_working_folder(tmp_path: Path) -> None:
    """It said that standard output could not be written, which was not so."""
    script = 'cd "$1" && rmdir "$1" && exec "$2" -m benchguard rewards --problem a=b'
    result = subprocess.run(
        ["sh", "-c", script, "sh", str(tmp_path), sys.executable],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 70
    assert "no working folder" in result.stderr and result.stderr.count("\n") == 1


def test_failed_command_with_full_output_keeps_its_message() -> None:
    result = run(["verify-log", "/nonexistent"], ">/dev/full")
    assert result.returncode == 2
    assert "cannot read the log" in result.stderr


def test_observed_command_finds_closed_output_closed(native: Path, tmp_path: Path) -> None:
    assert native.is_dir()
    log = tmp_path / "log"
    result = run(["--driver", "sim", "--log", str(log), "-q", "--", "sh", "-c", "test ! -e /dev/fd/1"], ">&-")
    assert result.returncode == 0, result.stderr


def test_valid_log_with_closed_standard_error_ends_with_0(tmp_path: Path) -> None:
    """The status was 1, as for a broken hash chain."""
    log = write_log(tmp_path / "run.audit.jsonl", [session(), end()])
    for closed in ("2>&-", "<&- 2>&-"):
        result = run(["verify-log", str(log)], f">{tmp_path}/out {closed}")
        assert result.returncode == 0
        assert "chain valid" in (tmp_path / "out").read_text()


def test_observed_command_finds_closed_standard_error_closed(native: Path, tmp_path: Path) -> None:
    assert native.is_dir()
    log = tmp_path / "log"
    result = run(
        ["--driver", "sim", "--log", str(log), "-q", "--", "sh", "-c", "test ! -e /dev/fd/2"], "2>&-"
    )
    assert result.returncode == 0


def test_too_many_open_files_name_the_limit_to_raise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(main.cli, "main", fail)
    with pytest.raises(SystemExit) as left:
        main.main(["doctor"])
    assert left.value.code == 70
    assert (
        capsys.readouterr().err
        == "neutrino-bench: error: too many open files; raise the limit with `ulimit -n`\n"
    )


def test_file_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was said of standard output."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/cache/x")

    monkeypatch.setattr(main.cli, "main", fail)
    with pytest.raises(SystemExit) as left:
        main.main(["doctor"])
    assert left.value.code == 70
    assert "error: /cache/x: Read-only file system; check" in capsys.readouterr().err
