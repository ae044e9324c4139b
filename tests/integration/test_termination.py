"""SIGTERM, SIGHUP and SIGINT leave no process and no temporary file behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchguard.ipc.processes import process_start, with_descendants
from tests.conftest import ROOT
from tests.support.captures import CAPTURES
from tests.support.signals import ENDING, take_signals

PROBLEM = ROOT / "examples" / "problems" / "vector_add.py"
START_SECONDS = 60
END_SECONDS = 60


def arguments(command: str, folder: Path) -> list[str | Path]:
    if command == "replay":
        capture = CAPTURES["saxpy"](folder / "saxpy.ncap")
        return ["replay", capture, "--driver", "sim", "--samples", "100000", "--cold", "none"]
    if command == "build":
        return ["build", "--driver", "sim"]
    submission = folder / "hangs.py"
    submission.write_text("import time\ntime.sleep(300)\ndef solution(a, b, c, n):\n    pass\n")
    return [command, PROBLEM, *[submission] * (2 if command == "compare" else 1), "--driver", "sim"]


def slow_compiler(path: Path, compiles: Path) -> str:
    """A compiler that makes the file `compiles`, and then does not end, when it compiles a source."""
    path.write_text(f'#!/bin/sh\ncase "$*" in *" -c "*) touch {compiles}; sleep 300;; esac\nexec cc "$@"\n')
    path.chmod(0o755)
    return str(path)


def wait_for(condition: object, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
@pytest.mark.parametrize("command", ["replay", "grade", "compare", "build"])
def test_signal_ends_all_processes_and_removes_temporary_files(
    command: str, number: signal.Signals, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-m", "benchguard", *map(str, arguments(command, tmp_path))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    compiles = tmp_path / "compiles"
    if command == "build":
        environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
        environment["CC"] = slow_compiler(tmp_path / "slow-cc", compiles)
    with subprocess.Popen(
        words,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        preexec_fn=take_signals,  # noqa: PLW1509 - the test has one thread
    ) as child:
        assert wait_for(
            compiles.exists if command == "build" else lambda: len(with_descendants(child.pid)) > 1,
            START_SECONDS,
        )
        time.sleep(0.5)
        started = with_descendants(child.pid)
        child.send_signal(number)
        try:
            _, output = child.communicate(timeout=END_SECONDS)
        finally:
            child.kill()
    # CPython ends by SIGINT itself if the interrupt came while dataclasses compiled a class.
    assert child.returncode in {128 + number, *([-number] if number == signal.SIGINT else [])}, (
        output.decode()
    )
    assert b"Traceback" not in output
    assert b"did not end within" not in output, output.decode()
    assert wait_for(lambda: not [pid for pid in started if process_start(pid) is not None], END_SECONDS)
    assert list(temporary.iterdir()) == []
    assert list(tmp_path.glob("cache/neutrino-bench/shim/.building-*")) == []
