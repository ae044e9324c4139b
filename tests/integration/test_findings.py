"""Timing loops of five graders, with honest submissions and attacks, on the CPU driver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.findings import analyse_log
from tests.conftest import ROOT
from tests.integration.support import PROGRAMS, Observe

KIT = ROOT / "tests" / "attacks" / "kit"
LOOPS = ("do_bench", "kernelbot", "kernelbench", "pygpubench", "torch_benchmark")
WITH_EVENTS = LOOPS[:4]
ATTACKS = {
    "unjoined": "unjoined-kernel",
    "unforked": "kernel-not-after-start",
    "cached": "empty-window",
    "copied": "copies-only",
    "host": "host-callback",
    "loads": "module-load",
}


def command(loop: str, submission: str) -> list[str | Path]:
    return [sys.executable, PROGRAMS / "timed.py", KIT, loop, submission]


def serious_findings(observe: Observe, loop: str, submission: str) -> set[str]:
    run = observe(command(loop, submission), "--quiet")
    assert run.status == 0, run.stderr
    report = analyse_log(run.log)
    assert report.complete
    assert (report.windows > 0) == (loop in WITH_EVENTS)
    return {finding.id for finding in report.above_info()}


@pytest.mark.parametrize("submission", ["honest", "joined", "graph"])
@pytest.mark.parametrize("loop", LOOPS)
def test_honest_submission_has_no_finding_above_info(observe: Observe, loop: str, submission: str) -> None:
    assert serious_findings(observe, loop, submission) == set()


@pytest.mark.parametrize("submission", ATTACKS)
@pytest.mark.parametrize("loop", WITH_EVENTS)
def test_attack_has_its_finding(observe: Observe, loop: str, submission: str) -> None:
    assert ATTACKS[submission] in serious_findings(observe, loop, submission)


def test_events_recorded_again_are_found(observe: Observe) -> None:
    found = serious_findings(observe, "kernelbot", "again")
    assert found & {"window-restarted", "start-recorded-again"}


def test_work_of_a_late_thread_is_found(observe: Observe) -> None:
    assert "empty-window" in serious_findings(observe, "kernelbot", "thread")


def test_fail_on_gives_status_3_and_honest_run_keeps_its_status(observe: Observe) -> None:
    run = observe(command("kernelbot", "unjoined"), "--fail-on", "error")
    assert run.status == 3
    assert "unjoined-kernel" in run.stderr and "docs/findings.md" in run.stderr
    run = observe(command("kernelbot", "honest"), "--fail-on", "warning")
    assert run.status == 0
    assert "6 timing windows, 0 findings; " in run.stderr  # info ones are counted, not shown


def test_command_shows_and_writes_findings(observe: Observe, tmp_path: Path) -> None:
    run = observe(command("kernelbot", "unjoined"), "--quiet")
    words = ["findings", run.log, "--sarif", "x.sarif", "--json", "x.json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchguard", *words],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "unjoined-kernel" in done.stdout
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["schema"] == "neutrino-bench/findings/1"
    sarif = json.loads((tmp_path / "x.sarif").read_text())
    assert {each["ruleId"] for each in sarif["runs"][0]["results"]} == {
        each["id"] for each in written["findings"]
    }
