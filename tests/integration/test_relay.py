"""Replay processes that follow each other, on the CPU driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.ipc.processes import process_start
from benchguard.replay.buffers import Buffers
from benchguard.replay.options import ReplayOptions
from benchguard.replay.relay import Relay
from benchguard.replay.replay import replay_buffers
from benchguard.replay.result import ReplayResult
from benchguard.replay.target import target_of
from tests.conftest import ROOT
from tests.support.captures import CAPTURES
from tests.support.waiting import wait_until


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return CAPTURES["saxpy"](tmp_path / "x.ncap")


def relay_of(ahead: bool) -> Relay:
    return Relay(target_of("cuda", "sim"), 0, "any", ahead)


def replayed(relay: Relay, capture: Path, is_last: bool, seconds: float = 60) -> ReplayResult:
    options = ReplayOptions(driver="sim", strict=True, samples=5, timeout=seconds)
    return replay_buffers(capture, options, Buffers(), waiting=relay.take(0 if is_last else 1))


def test_process_ahead_has_its_context_when_the_replay_ends(capture: Path) -> None:
    with relay_of(ahead=True) as relay:
        assert replayed(relay, capture, is_last=False).verdict == "pass"
        following = relay.this
        assert process_start(following.keeper) is not None and following.hear(60)
        assert replayed(relay, capture, is_last=True).verdict == "pass"
        assert process_start(following.keeper) is None


@pytest.mark.parametrize("ahead", [False, True])
def test_processes_that_follow_each_other_give_equal_results(capture: Path, ahead: bool) -> None:
    with relay_of(ahead) as relay:
        results = [replayed(relay, capture, is_last=number == 3) for number in range(4)]
    assert [(each.verdict, len(each.table)) for each in results] == [("pass", 5)] * 4


def test_no_process_starts_ahead_of_the_last_replay_or_on_the_cpu_driver(capture: Path) -> None:
    with relay_of(ahead=True) as relay:
        replayed(relay, capture, is_last=True)
        assert relay.this.keeper == 0
    with Relay(target_of("cuda", "sim"), 0, "any") as relay:
        replayed(relay, capture, is_last=False)
        assert relay.this.keeper == 0


def test_process_that_was_killed_while_it_waited_is_replaced(capture: Path) -> None:
    with relay_of(ahead=True) as relay:
        replayed(relay, capture, is_last=False)
        killed = relay.this.keeper
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: process_start(killed) is None)
        assert replayed(relay, capture, is_last=True).verdict == "pass"


def test_replay_that_ran_out_of_time_leaves_the_next_one_as_it_was(capture: Path) -> None:
    with relay_of(ahead=True) as relay:
        assert replayed(relay, capture, is_last=False, seconds=0.001).verdict == "timeout"
        assert replayed(relay, capture, is_last=False).verdict == "pass"
        waits = relay.this.keeper
    assert process_start(waits) is None


WITHOUT_PRIVILEGES = """
import sys
from pathlib import Path
from benchguard.ipc import libc
from benchguard.ipc.processes import process_start
from tests.integration.test_relay import relay_of, replayed
libc.prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
with relay_of(ahead=True) as relay:
    for _ in range(3):
        verdict = replayed(relay, Path(sys.argv[1]), is_last=False).verdict
        print(verdict, process_start(relay.this.keeper) is not None)
"""


def test_process_ahead_without_new_privileges_survives_the_replay_before_it(capture: Path) -> None:
    """In such a container the keeper of a process that was started later looks like an orphan of the replay."""
    command = [sys.executable, "-c", WITHOUT_PRIVILEGES, str(capture)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["pass True"] * 3
