"""Grades take turns on a GPU. The CPU driver has a lock, too, if the folder of the locks is given."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchguard.fleet.grading import grade_all
from benchguard.gpu import turns
from benchguard.gpu.turns import WAITING, BusyError, Turns
from benchguard.gpu.users import may_use_gpu
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.ipc.lock_file import FOLDER
from benchguard.quarantine import pause
from benchguard.quarantine.contract import Quarantined
from tests.conftest import ROOT
from tests.integration.quarantining import GOT, confined, program_of
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

TICKS = """
if os.fork() == 0:
    while True: time.sleep(0.01)
for _ in range(250):
    print("tick", time.monotonic(), flush=True)
    time.sleep(0.01)
"""
WAKE = """
signal.signal(signal.SIGCONT, lambda *_: None)
event = (ctypes.c_int * 16)()
event[2] = signal.SIGCONT  # sigev_signo, after the 8 bytes of sigev_value (sigevent(3type))
timer = ctypes.c_void_p()
call(libc.timer_create(1, event, ctypes.byref(timer)))
call(libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, WAKE_NS, 0, WAKE_NS), None))
"""
STOP_SECONDS = 6.0


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
    assert graded.seconds[WAITING] > seconds / 2
    assert WAITING in phases


def test_gpu_in_use_is_no_verdict(locks: Path) -> None:
    others_quarantine = Turns(GPU, 0.0, locks).take("together")
    with others_quarantine, pytest.raises(BusyError, match="wait longer with --wait-for-gpu"):
        grade(VECTOR_ADD, KERNEL, OPTIONS, wait_for_gpu=0.5)


@dataclass
class Replay:
    """Another grade's replay, which asks for the GPU after `delay` seconds and keeps it for `seconds`."""

    folder: Path
    delay: float = 1.0
    seconds: float = 1.0
    began: float = 0.0
    ended: float = 0.0

    def __enter__(self) -> Replay:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        time.sleep(self.delay)
        with Turns(GPU, 60.0, self.folder).take("alone"):
            self.began = time.monotonic()
            time.sleep(self.seconds)
            self.ended = time.monotonic()


def quarantined_beside(
    replay: Replay, folder: Path, program: str, **options: Any
) -> tuple[Quarantined, list[float]]:
    """A quarantine during the replay, and the times at which it printed a tick."""
    with ExitStack() as waits_for_replay, Turns(GPU, 60.0, replay.folder).take("together") as turn:
        waits_for_replay.enter_context(replay)
        result = confined(folder, program, turn=turn, **options)
    words = result.output.split()
    return result, [float(at) for word, at in pairwise(words) if word == "tick"]


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_quarantine_stops_for_a_replay(locks: Path, tmp_path: Path, delay: float) -> None:
    """The stop does not count for the time-out, and the submission ends as without it.

    A quarantine that has not begun has nothing to stop, and keeps its turn until it has.
    """
    replay = Replay(locks, delay, seconds=STOP_SECONDS)
    began = time.monotonic()
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS))
    took = time.monotonic() - began
    assert GOT in result.output and result.trouble == "" and result.status == 0
    assert replay.began < replay.ended < ticks[-1]
    assert not ticks_during(replay, ticks)
    assert result.wall_s <= took - STOP_SECONDS


def goes_on(monkeypatch: pytest.MonkeyPatch, may_use_gpu: Callable[[int], bool] = may_use_gpu) -> None:
    """Have the lock of the CPU driver, which has no device file, treated as that of a GPU."""
    monkeypatch.setattr(pause, "CPU_DRIVER", "")
    monkeypatch.setattr(pause, "RUNNING_MAX", 8)
    monkeypatch.setattr(pause, "may_use_gpu", may_use_gpu)


def ticks_during(replay: Replay, ticks: Sequence[float]) -> list[float]:
    return [at for at in ticks if replay.began < at < replay.ended]


def test_processes_without_a_device_go_on_during_a_replay(
    locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on(monkeypatch)
    replay = Replay(locks, seconds=2.0)
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS))
    assert GOT in result.output and result.trouble == ""
    assert ticks_during(replay, ticks)


def test_process_that_opens_a_device_during_a_replay_is_stopped(
    locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay = Replay(locks, seconds=4.0)
    goes_on(monkeypatch, lambda _: 0 < replay.began < time.monotonic() - 1.0)
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS))
    assert GOT in result.output and result.trouble == ""
    assert ticks_during(replay, ticks)
    assert max(ticks_during(replay, ticks)) < replay.began + 2.0
    assert replay.ended < ticks[-1]


def test_processes_that_keep_the_processors_busy_are_stopped(
    locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on(monkeypatch)
    monkeypatch.setattr(pause, "running_threads", lambda _: pause.RUNNING_MAX + 1)
    replay = Replay(locks, seconds=2.0)
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS))
    assert GOT in result.output and result.trouble == ""
    assert not ticks_during(replay, ticks)


def test_limits_hold_during_a_replay(locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission that allocates memory while another grade's replay runs is ended then, not after it."""
    goes_on(monkeypatch)
    replay = Replay(locks, seconds=STOP_SECONDS)
    hoard = "time.sleep(1.5)\nkept = bytearray(b'x') * (1 << 30)\ntime.sleep(60)\n"
    result, _ = quarantined_beside(replay, tmp_path, program_of(hoard), memory_bytes=256 << 20)
    assert "memory" in result.trouble, result


def test_quarantine_that_wakes_itself_is_killed(locks: Path, tmp_path: Path) -> None:
    program = program_of(WAKE + TICKS, WAKE_NS=300_000_000)
    result, _ = quarantined_beside(Replay(locks), tmp_path, program)
    assert GOT not in result.output
    assert "went on while it was stopped" in result.trouble
    assert GOT in confined(tmp_path, program).output, "the program must work without a replay"


def test_busy_gpu_keeps_the_turn(locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels go on when their process is stopped. As long as they run, no replay begins."""
    monkeypatch.setattr(turns, "wait_until_quiet", lambda *_: False)
    replay = Replay(locks)
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS))
    assert GOT in result.output and result.trouble == ""
    assert ticks[-1] < replay.began


@dataclass
class Opening:
    """A program beside the submission that uses the GPU until `until`."""

    until: float = float("inf")
    keeper: int = 0

    def start(self) -> None:
        self.until = time.monotonic() + 2.0

    @property
    def uses_gpu(self) -> bool:
        return time.monotonic() < self.until


def test_context_in_the_making_keeps_the_turn(locks: Path, tmp_path: Path) -> None:
    """The quarantine keeps its turn until the contexts for the replay, which are made beside it, are complete."""
    beside, replay = Opening(), Replay(locks, delay=0.0)
    result, ticks = quarantined_beside(replay, tmp_path, program_of(TICKS), waiting=(beside,))
    assert GOT in result.output and beside.until < replay.began < replay.ended < ticks[-1]


@pytest.mark.full
@pytest.mark.usefixtures("locks")
def test_grades_at_once_wait_for_the_replays_of_each_other() -> None:
    submissions = {str(number): KINDS["honest"][1] for number in range(4)}
    began = time.monotonic()
    graded = list(grade_all(PROBLEM, submissions, GradeOptions(driver="sim", samples=3), parallel=4))
    took = time.monotonic() - began
    assert [each.result.verdict if each.result else each.trouble for each in graded] == ["pass"] * 4
    walls = [each.result.wall_s for each in graded if each.result]
    waits = [each.result.seconds.get(WAITING, 0.0) for each in graded if each.result]
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
