"""Graders see what others claim of the machine's memory, until those end."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError
from benchguard.ipc.claims import Claims, graders
from tests.conftest import ROOT

GRADER = """
import sys
from pathlib import Path
from benchguard.ipc.claims import Claims
claims = Claims(Path(sys.argv[1]))
for each in sys.stdin:
    with claims.planning():
        claims.claim(int(each))
    print(claims.of_others(), flush=True)
"""
GIB = 1 << 30


class Grader:
    """A grader in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", GRADER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def claim(self, size: int) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(size, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


@contextlib.contextmanager
def graders_in(folder: Path, count: int) -> Iterator[list[Grader]]:
    found = [Grader(folder) for _ in range(count)]
    try:
        yield found
    finally:
        for each in found:
            each.process.kill()
            each.process.communicate()


def test_claims_of_others_are_counted_and_own_ones_are_not(tmp_path: Path) -> None:
    own = Claims(tmp_path)
    with own.planning():
        own.claim(64 * GIB)
    assert (own.of_others(), own.others(), own.unplanned()) == (0, 0, 0)
    with graders_in(tmp_path, 3) as (first, second, third):
        assert first.claim(5 * GIB) == 64 * GIB
        assert second.claim(7 * GIB) == 69 * GIB
        assert third.claim(0) == 76 * GIB
        assert (own.of_others(), own.others(), own.unplanned()) == (12 * GIB, 3, 0)


def test_claim_that_changes_its_size_overlaps_no_other(tmp_path: Path) -> None:
    """Two claims on the same range would be found as one, or in part."""
    with graders_in(tmp_path, 2) as (first, second):
        own = Claims(tmp_path)
        for large, small in ((3, 9), (9, 2), (20, 1), (1, 30)):
            first.claim(large * GIB)
            second.claim(small * GIB)
            assert own.of_others() == (large + small) * GIB


def test_grader_that_has_not_planned_is_told_from_one_that_claims_nothing(tmp_path: Path) -> None:
    own = Claims(tmp_path)
    with graders_in(tmp_path, 2) as (first, _):
        first.claim(0)
        while own.others() < 2:
            time.sleep(0.02)
        assert own.unplanned() == 1


def test_claim_of_a_killed_grader_ends_with_it(tmp_path: Path) -> None:
    own = Claims(tmp_path)
    with graders_in(tmp_path, 1) as (first,):
        first.claim(5 * GIB)
        assert own.of_others() == 5 * GIB
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        assert (own.of_others(), own.others()) == (0, 0)


def test_others_wait_while_one_plans(tmp_path: Path) -> None:
    own = Claims(tmp_path)
    with graders_in(tmp_path, 1) as (first,):
        first.claim(0)
        with own.planning():
            print(GIB, file=first.process.stdin, flush=True)
            time.sleep(0.3)
            assert own.of_others() == 0
            own.claim(2 * GIB)
        assert first.process.stdout is not None
        assert int(first.process.stdout.readline()) == 2 * GIB


def test_supervisor_without_a_claim_counts_graders(tmp_path: Path) -> None:
    assert graders(tmp_path) == 0
    with graders_in(tmp_path, 2) as both:
        for each in both:
            each.claim(0)
        assert graders(tmp_path) == 2


def test_folder_that_cannot_hold_the_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "neutrino-memory.lock").mkdir()
    with pytest.raises(BenchguardError, match=r"neutrino-memory\.lock is not a regular file"):
        Claims(tmp_path)
