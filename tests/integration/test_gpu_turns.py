"""Grades take turns on a GPU. The CPU driver has a lock, too, if the folder of the locks is given."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchguard.fleet.grading import grade_all
from benchguard.gpu.turns import FOLDER, BusyError, Turns
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.replay.replay import WAITING
from tests.conftest import ROOT
from tests.support.mixed import KINDS, PROBLEM

VECTOR_ADD = ROOT / "examples" / "problems" / "vector_add.py"
KERNEL = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
OPTIONS = GradeOptions(driver="sim", samples=3, cases=("small",))
GPU = ("cpu-driver",)

THIEF = """
import fcntl, os

for name in ("lock", "next"):
    place = os.path.join({folder!r}, "neutrino-cpu-driver." + name)
    try:
        fcntl.flock(os.open(place, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise SystemExit("locked")
    except BlockingIOError:
        raise SystemExit("opened")
    except OSError as error:
        found = f"refused: {{error.strerror}}"
raise SystemExit(found)
"""


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: Path) -> Path:
    assert (native / "sim").is_dir()
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    return folder


@pytest.mark.full
def test_wait_does_not_count_for_the_timeout(locks: Path) -> None:
    """The other's turn is as long as the time-out of the grade, which passes, and says how long it waited."""
    seconds = 20.0
    phases: list[str] = []
    turn = Turns(GPU, 0.0, locks).take("alone")
    turn.__enter__()
    threading.Timer(seconds, lambda: turn.__exit__(None, None, None)).start()
    graded = grade(VECTOR_ADD, KERNEL, OPTIONS, progress=lambda at: phases.append(at.phase), timeout=seconds)
    assert graded.verdict == "pass", graded.reason
    assert graded.seconds[WAITING.phase] > seconds / 2
    assert WAITING.phase in phases


def test_gpu_in_use_is_no_verdict(locks: Path) -> None:
    others_quarantine = Turns(GPU, 0.0, locks).take("together")
    with others_quarantine, pytest.raises(BusyError, match="wait longer with --wait-for-gpu"):
        grade(VECTOR_ADD, KERNEL, OPTIONS, wait_for_gpu=0.5)


@pytest.mark.full
@pytest.mark.usefixtures("locks")
def test_grades_at_once_wait_for_the_replays_of_each_other() -> None:
    submissions = {str(number): KINDS["honest"][1] for number in range(4)}
    began = time.monotonic()
    graded = list(grade_all(PROBLEM, submissions, GradeOptions(driver="sim", samples=3), parallel=4))
    took = time.monotonic() - began
    assert [each.result.verdict if each.result else each.trouble for each in graded] == ["pass"] * 4
    walls = [each.result.wall_s for each in graded if each.result]
    waits = [each.result.seconds.get(WAITING.phase, 0.0) for each in graded if each.result]
    assert sum(walls) > took, "no two grades overlapped"
    assert any(waits), "no grade waited for another's replay"


@pytest.mark.full
def test_submission_cannot_take_a_turn(locks: Path, tmp_path: Path) -> None:
    """A lock needs no more than a readable file. The quarantine hides it."""
    with Turns(GPU, 0.0, locks).take("alone"):
        pass
    thief = tmp_path / "thief.py"
    thief.write_text(THIEF.format(folder=str(locks)))
    outside = subprocess.run([sys.executable, str(thief)], capture_output=True, text=True, check=False)
    assert outside.stderr == "locked\n"
    graded = grade(VECTOR_ADD, thief, OPTIONS)
    assert graded.verdict == "failed"
    assert "refused" in graded.reason + graded.output, graded.reason
