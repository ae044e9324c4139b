"""Turns on a GPU: who waits for whom, how a turn ends, and what cannot be a lock."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.gpu import turns as turns_module
from benchguard.gpu.turns import BusyError, Turns
from benchguard.ipc.lock_file import FOLDER, lock_folder
from tests.conftest import ROOT

GPU = "GPU-1"
HOLD = f"""
import sys, time
from pathlib import Path
from benchguard.gpu.turns import Turns
with Turns(({GPU!r},), 0, Path(sys.argv[1])).take(sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(folder: Path, kind: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has a turn."""
    command = [sys.executable, "-c", HOLD, str(folder), kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def turns(folder: Path, seconds: float = 0.0) -> Turns:
    return Turns((GPU,), seconds, folder)


@pytest.mark.parametrize(
    ("held", "wanted", "waits"),
    [
        ("alone", "alone", True),
        ("alone", "together", True),
        ("together", "alone", True),
        ("together", "together", False),
    ],
)
def test_turn_alone_excludes_all_others(tmp_path: Path, held: str, wanted: str, waits: bool) -> None:
    with holder(tmp_path, held) as process:
        if waits:
            with pytest.raises(
                BusyError, match=f"GPU-1 is in use by process {process.pid}, after a wait of 0 s"
            ):
                turns(tmp_path).take(wanted).__enter__()  # type: ignore[arg-type]
        else:
            with turns(tmp_path).take("together"):
                pass


def test_turn_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with holder(tmp_path, "alone") as process:
        process.kill()
        process.wait()
        with turns(tmp_path).take("alone"):
            pass


def test_wait_is_counted_and_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    mine = turns(tmp_path, 30)
    with holder(tmp_path, "alone") as process:
        threading.Timer(0.3, process.kill).start()
        with mine.take("alone", lambda: told.append("waiting")):
            pass
    assert told == ["waiting"]
    assert 0.0 < mine.waited < 30
    with mine.take("alone", lambda: told.append("again")):
        pass
    assert told == ["waiting"]


def test_limit_is_for_all_waits_together(tmp_path: Path) -> None:
    mine = turns(tmp_path, 30)
    mine.waited = 30.0
    with holder(tmp_path, "alone"), pytest.raises(BusyError, match="after a wait of 30 s"):
        mine.take("alone").__enter__()


def test_measurement_goes_before_later_work_that_is_done_together(tmp_path: Path) -> None:
    """Without the queue, two overlapping turns `together` could go on for ever."""
    order: list[str] = []

    def take(kind: str, name: str, wait: Callable[[], None]) -> threading.Thread:
        def work() -> None:
            with turns(tmp_path, 30).take(kind, wait):  # type: ignore[arg-type]
                order.append(name)

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    with holder(tmp_path, "together") as process:
        waits = threading.Event(), threading.Event()
        first = take("alone", "measurement", waits[0].set)
        assert waits[0].wait(10)
        second = take("together", "later", waits[1].set)
        assert waits[1].wait(10)
        assert order == []
        process.kill()
        first.join()
        second.join()
    assert order == ["measurement", "later"]


@pytest.mark.parametrize("is_paused", [True, False])
def test_turn_alone_waits_for_a_quiet_gpu_only_where_processes_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_paused: bool
) -> None:
    asked: list[object] = []
    answers = iter([False, False, True])
    monkeypatch.setattr(turns_module, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(turns_module, "wait_until_quiet", lambda gpus, _: asked.append(gpus) or next(answers))
    with ExitStack() as stack:
        if is_paused:
            turns(tmp_path).note_pause(stack)
        with turns(tmp_path, 30).take("alone"):
            assert asked == ([[GPU]] * 3 if is_paused else [])


def test_busy_gpu_is_given_back_between_the_looks_of_all_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them alone would look in turn, and stopped submissions would never go on, nor reach their time-outs."""
    monkeypatch.setattr(turns_module, "RETRY_SECONDS", 1.0)
    monkeypatch.setattr(turns_module, "wait_until_quiet", lambda *_: time.sleep(0.5) or done.is_set())
    done = threading.Event()

    def work() -> None:
        with turns(tmp_path, 60).take("alone"):
            pass

    with ExitStack() as stack:
        turns(tmp_path).note_pause(stack)
        waiting = [threading.Thread(target=work) for _ in range(4)]
        for each in waiting:
            each.start()
        time.sleep(0.3)
        try:
            with turns(tmp_path, 4).take("together"):
                pass
        finally:
            done.set()
        for each in waiting:
            each.join(30)
            assert not each.is_alive()


def test_other_gpu_is_free(tmp_path: Path) -> None:
    with holder(tmp_path, "alone"), Turns(("GPU-2",), 0, tmp_path).take("alone"):
        pass


def test_all_gpus_wait_for_one(tmp_path: Path) -> None:
    with holder(tmp_path, "alone"), pytest.raises(BusyError, match="GPU-1"):
        Turns(("GPU-2", GPU), 0, tmp_path).take("alone").__enter__()
    with Turns(("GPU-2",), 0, tmp_path).take("alone"):  # its lock was given back
        pass


def test_no_gpu_needs_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "/absent")
    with Turns((), 0).take("alone"):
        pass


def test_absent_folder_is_refused() -> None:
    with pytest.raises(UsageError, match="NEUTRINO_GPU_LOCKS is '/absent', which is not a folder"):
        lock_folder({FOLDER: "/absent"})


def test_removed_file_locks_nobody_twice(tmp_path: Path) -> None:
    """A cleaner of old files removes it: whoever waits for the old file must not take it for the lock."""
    held = threading.Event()

    def work() -> None:
        with turns(tmp_path, 30).take("alone"):
            held.set()

    with holder(tmp_path, "alone") as old:
        waiting = threading.Thread(target=work)
        waiting.start()
        time.sleep(0.2)
        (tmp_path / f"neutrino-{GPU}.lock").unlink()
        with holder_of_new(tmp_path):
            old.kill()
            assert not held.wait(0.5)
        waiting.join(30)
        assert held.is_set()


@contextmanager
def holder_of_new(folder: Path) -> Iterator[None]:
    """Lock a new file directly: the queue is held by the thread that waits."""
    with (folder / f"neutrino-{GPU}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def plant_link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


@pytest.mark.parametrize(
    ("plant", "reason"),
    [(plant_link, "cannot lock"), (os.mkfifo, "not a regular file"), (Path.mkdir, "not a regular file")],
)
def test_planted_file_is_refused(tmp_path: Path, plant: Callable[[Path], None], reason: str) -> None:
    """Anyone may write to the folder. A planted link or pipe gives a reason, and no hang."""
    plant(tmp_path / f"neutrino-{GPU}.lock")
    with pytest.raises(BenchguardError, match=reason):
        turns(tmp_path).take("alone").__enter__()
