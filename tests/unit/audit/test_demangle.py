"""Names that a demangler takes long for, and the demangler's confinement."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import closing
from typing import Any

import pytest

from benchguard.audit import demangle
from benchguard.audit.demangle import Demangler
from benchguard.ipc.processes import living_descendants
from tests.conftest import ROOT

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def doubled(times: int) -> str:
    """A mangled name whose text doubles with each substitution."""
    numbers = ["S_", *(f"S{digit}_" for digit in DIGITS)]
    return "_Z1f1AIiiE" + "".join(f"S_I{2 * numbers[each + 1]}E" for each in range(times))


def test_names_are_demangled() -> None:
    with closing(Demangler()) as demangler:
        assert demangler.demangle("_Z3addPfi") == "add(float*, int)"
        assert demangler.demangle(doubled(3)) is not None
        assert demangler.demangle("_Z3subv") == "sub()"


def test_names_stay_mangled_after_the_time_for_all_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangle, "ANSWER_SECONDS", 0.1)
    with closing(Demangler()) as demangler:
        assert demangler.demangle(doubled(22)) is None
        assert demangler.demangle("_Z3addPfi") is None
        assert demangler.process not in living_descendants()


@pytest.mark.parametrize(
    "program",
    [
        "print(end='\"', flush=True); time.sleep(60)",
        "sys.stdout.buffer.write(b'\"\\xff\"\\n')",
        "print('x' * 10**7)",
    ],
)
def test_names_stay_mangled_if_the_demangler_was_taken_over(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """An answer without an end, without text, and without a limit."""
    monkeypatch.setattr(demangle, "START_SECONDS", 0.5)
    start = subprocess.Popen
    words = [sys.executable, "-c", f"import sys, time; {program}"]
    monkeypatch.setattr(subprocess, "Popen", lambda _, **pipes: start(words, **pipes))
    with closing(Demangler()) as demangler:
        assert demangler.demangle("_Z3addPfi") is None
        assert demangler.process not in living_descendants()


def test_names_stay_mangled_if_a_demangler_that_was_taken_over_stops_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It answers names that it never reads, until the pipe is full."""
    start = subprocess.Popen
    words = [sys.executable, "-c", "while True: print('null', flush=True)"]
    monkeypatch.setattr(subprocess, "Popen", lambda _, **pipes: start(words, **pipes))
    with closing(Demangler()) as demangler:
        for number in range(20):
            assert demangler.demangle(f"_Z{number}{'x' * 8000}") is None
        assert demangler.process not in living_descendants()


def test_process_listed_while_the_demangler_starts_is_known_as_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list of processes has the worker before Popen returns."""
    before, listed, start = set(living_descendants()), threading.Event(), subprocess.Popen

    def slow_start(*words: Any, **pipes: Any) -> subprocess.Popen[bytes]:
        worker = start(*words, **pipes)
        assert listed.wait(10)
        return worker

    monkeypatch.setattr(subprocess, "Popen", slow_start)
    with closing(Demangler()) as demangler:
        asking = threading.Thread(target=demangler.demangle, args=("_Z3addPfi",))
        asking.start()
        while not (living := set(living_descendants()) - before):
            assert asking.is_alive()
        threading.Timer(0.1, listed.set).start()
        assert living == {demangler.process}
        asking.join()


@pytest.mark.parametrize(
    "call", ["os.open('/etc/passwd', os.O_RDONLY)", "os.fork()", "os.kill(os.getppid(), 0)", "os.setsid()"]
)
def test_demangler_process_that_does_more_than_compute_is_killed(call: str) -> None:
    program = "import os; from benchguard.ipc.compute_only import compute_only; compute_only(1 << 30)\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", program + f"print(sum(range(1000)), flush=True)\n{call}\nprint('alive')"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("499500\n", -31), done.stderr
