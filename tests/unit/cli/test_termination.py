"""An interrupt ends a command even if its exception is lost, or if the clean-up hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchguard.cli.termination import Terminated, interrupted_status
from benchguard.ipc.processes import process_start
from tests.conftest import ROOT
from tests.support.signals import take_signals

SECONDS = 30

COMMAND = """
import os, signal, subprocess, sys, threading, time
from benchguard.cli import main as program, termination

class Loses:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGHUP)
        for _ in range(1000): pass

def lost(*_, **__):
    Loses()
    print("went on", flush=True)
    time.sleep(300)

def hangs(*_, **__):
    child = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(child.pid, flush=True)
    lock = threading.Lock()
    lock.acquire()
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(300)
    finally:
        lock.acquire()

def slow(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(300)
    finally:
        time.sleep(1.5)
        print("cleaned up", flush=True)

def waits(*_, **__):
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with subprocess.Popen(["sleep", "300"], **quiet) as child:
        print(child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        child.wait()

termination.LOOK_SECONDS, termination.CLEAN_UP_SECONDS = 0.1, float(sys.argv[2])
program.cli.main = globals()[sys.argv[1]]
program.main([])
"""


def run(name: str, clean_up: float = SECONDS) -> subprocess.CompletedProcess[str]:
    return started([sys.executable, "-c", COMMAND, name, str(clean_up)])


def started(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=ROOT,
        check=False,
        preexec_fn=take_signals,
    )


def test_exception_lost_in_a_destructor_is_raised_again() -> None:
    done = run("lost")
    assert "went on" in done.stdout  # otherwise CPython loses none here
    assert done.returncode == 128 + signal.SIGHUP


def test_hanging_clean_up_is_ended_with_its_processes() -> None:
    done = run("hangs", clean_up=0.5)
    assert done.returncode == 128 + signal.SIGTERM
    assert "error: the clean-up after SIGTERM did not end within 0.5 s" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    until = time.monotonic() + SECONDS
    while process_start(int(done.stdout)) is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert process_start(int(done.stdout)) is None


def test_slow_clean_up_is_not_interrupted() -> None:
    done = run("slow")
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "cleaned up\n", "")


def test_command_that_ctrl_c_did_not_end_goes_on() -> None:
    """A trainer beside `rewards` gets Ctrl-C from the terminal, too, and may write a checkpoint then."""
    done = run("waits")
    command = int(done.stdout)
    assert (done.returncode, process_start(command) is not None) == (128 + signal.SIGINT, True)
    os.kill(command, signal.SIGKILL)


def test_interrupt_during_imports_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    words = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; from benchguard.__main__ import main",
    ]
    done = started(words)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize(
    ("interrupt", "status"),
    [(Terminated(signal.SIGTERM), 143), (KeyboardInterrupt(), 130), (OSError(), None)],
)
def test_status_is_found_behind_another_exception(interrupt: BaseException, status: int | None) -> None:
    error = RuntimeError("Error calling __set_name__")
    error.__cause__ = interrupt
    outer = ValueError()
    outer.__context__ = error
    error.__context__ = outer  # a circle, which Python code can make
    assert interrupted_status(outer) == status
