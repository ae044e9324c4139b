"""Filters that let no call through are not silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchguard.cli.main import cli
from tests.support.log_lines import call, end, session, write_log


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), ""),
        (("--call", "cuInit"), ""),
        (("--call", "cuMalloc*"), "no call fits --call"),
        (("--kernel", "*", "--thread", "7"), "no call fits --kernel and --thread"),
        (("--errors",), "no call failed"),
    ],
)
def test_filter_without_a_row_says_so(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    log = write_log(tmp_path / "x.jsonl", [session(), call("cuInit"), end()])
    ran = CliRunner().invoke(cli, ["trace", *options, str(log)])
    assert ran.exit_code == 0 and ("[EXIT]" in ran.stdout) == (said == "")
    assert ran.stderr.removeprefix("neutrino-bench: ").strip() == said


def test_log_without_calls_is_not_said_to_be_filtered(tmp_path: Path) -> None:
    log = write_log(tmp_path / "x.jsonl", [session(), end()])
    ran = CliRunner().invoke(cli, ["trace", "--errors", str(log)])
    assert (ran.exit_code, ran.stderr) == (0, "")


def test_errors_of_a_process_without_failed_calls_are_said_to_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(tmp_path / "x.jsonl", [session(), call("cuInit"), end()])
    monkeypatch.setattr("benchguard.cli.trace._log_of", lambda _: log)
    ran = CliRunner().invoke(cli, ["trace", "--pid", str(call("cuInit")["process"]), "--errors"])
    assert (ran.exit_code, ran.stderr) == (0, "neutrino-bench: no call failed\n")


@pytest.mark.parametrize("options", [(), ("--summary",), ("--follow",)])
def test_line_with_a_field_of_another_type_is_named_with_its_file(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    log = write_log(tmp_path / "x.jsonl", [session(), {**call("cuInit"), "result": "0"}, end()])
    ran = CliRunner().invoke(cli, ["trace", *options, str(log)])
    assert f"{log}, line 2: not a line of an audit log" in str(ran.exception)
