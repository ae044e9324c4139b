"""The findings of a run on the command line: what is shown, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.audit.log import checked_lines
from benchguard.cli.main import main
from benchguard.cli.observe import _findings
from benchguard.findings import Analysis, FindingsError
from tests.support.window_logs import WindowLog


@pytest.fixture
def attack(tmp_path: Path) -> Path:
    log = WindowLog(tmp_path / "attack.jsonl")
    log.call("cuStreamCreate", phStream=64, Flags=1)
    with log.window():
        log.launch(64)
    return log.close()


def status_of(*words: str | Path) -> object:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code


def test_findings_are_listed_and_do_not_fail_by_themselves(
    attack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("findings", attack) == 0
    out = capsys.readouterr().out
    assert "unjoined-kernel" in out and "1 timing window, 2 findings" in out


@pytest.mark.parametrize(
    ("wanted", "status"),
    [("unjoined-kernel", 3), ("warning", 3), ("error", 3), ("late-launch,empty-window", 0)],
)
def test_fail_on_takes_ids_and_severities(attack: Path, wanted: str, status: int) -> None:
    assert status_of("findings", attack, "--quiet", "--fail-on", wanted) == status


@pytest.mark.parametrize(
    "words",
    [
        ("findings", "LOG", "--json", "LOG"),
        ("findings", "LOG", "--sarif", "LOG"),
        ("findings", "LOG", "--json", "other", "--sarif", "other"),
        ("trace", "LOG", "--output", "LOG"),
        ("report", "LOG", "--html", "LOG"),
        ("report", "LOG", "--perfetto", "LOG"),
        ("observe", "--log", "LOG", "--force", "--summary", "LOG", "--", "true"),
    ],
)
def test_output_with_the_path_of_the_log_is_refused_and_the_log_kept(
    attack: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = attack.read_bytes()
    other = str(attack.with_name("other"))
    assert status_of(*({"LOG": attack, "other": other}.get(each, each) for each in words)) == 2
    assert "is named twice" in capsys.readouterr().err
    assert attack.read_bytes() == before


def test_output_of_trace_is_kept_if_the_log_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("before")
    assert status_of("trace", "--output", tmp_path / "table", tmp_path / "missing") == 2
    assert (tmp_path / "table").read_text() == "before"


def test_unwritable_output_of_trace_is_named(attack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("trace", "--output", "/dev/full", attack) == 70
    assert "cannot write /dev/full: No space left on device" in capsys.readouterr().err


def test_json_on_standard_output_is_alone(attack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("findings", attack, "--json", "-") == 0
    assert capsys.readouterr().out.startswith("{")


def broken(path: Path) -> Analysis:
    log = WindowLog(path)
    log.call("cuEventRecord", hEvent=-1, hStream=0)
    analysis = Analysis()
    for _ in analysis.through(checked_lines(log.close())):
        pass
    return analysis


def test_run_that_cannot_be_examined_says_so_and_keeps_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _findings(broken(tmp_path / "log"), tmp_path / "log", (), quiet=False) == 0
    assert "the timing windows are not examined: line 3" in capsys.readouterr().err


def test_fail_on_with_a_run_that_cannot_be_examined_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FindingsError):
        _findings(broken(tmp_path / "log"), tmp_path / "log", ("error",), quiet=True)


def test_log_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Reading its first bytes fails with EIO. It was said of standard output."""
    assert status_of("findings", "/proc/self/mem") != 0
    assert "cannot read the log /proc/self/mem: Input/output error" in capsys.readouterr().err
