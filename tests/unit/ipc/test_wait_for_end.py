"""Waiting for a child's end needs no polls, and gives up in time."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from benchguard.ipc.processes import wait_for_end


def test_end_of_a_child_awaited_without_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Popen.wait with a time-out sleeps up to 0.05 s between two looks."""

    def sleep(_: float) -> None:
        raise AssertionError("it polls")

    with subprocess.Popen(["sleep", "0.3"]) as child:
        monkeypatch.setattr(time, "sleep", sleep)
        assert wait_for_end(child, 30.0) and child.returncode == 0


def test_living_child_waited_for_in_vain() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        began = time.monotonic()
        assert not wait_for_end(child, 0.1)
        assert 0.1 <= time.monotonic() - began < 30
        child.kill()
        assert wait_for_end(child, 30.0) and wait_for_end(child, 0.0)


def test_kernel_without_pidfd_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: int) -> int:
        raise OSError

    monkeypatch.setattr(os, "pidfd_open", absent)
    with subprocess.Popen(["sleep", "0.05"]) as child:
        assert wait_for_end(child, 30.0)
    with subprocess.Popen(["sleep", "60"]) as child:
        assert not wait_for_end(child, 0.05)
        child.kill()
