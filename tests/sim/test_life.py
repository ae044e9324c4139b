"""Fork, exit with work queued, time-outs, threads: each in a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "life.c"


@pytest.fixture
def life(compile_c: Callable[..., Path], sim_path: Path) -> Callable[..., str]:
    folder = sim_path.parent
    program = compile_c("life", PROGRAM, links=(f"-L{folder}", "-l:libcuda.so.1", f"-Wl,-rpath,{folder}"))

    def run(mode: str, **environment: str) -> str:
        done = subprocess.run(
            [program, mode],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **environment},
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    return run


def test_child_of_an_initialised_process_is_told_so(life: Callable[..., str]) -> None:
    assert life("fork-after") == "child 42"


def test_fork_before_init_changes_nothing(life: Callable[..., str]) -> None:
    assert life("fork-before") == "child 42"


def test_exit_does_not_wait_for_a_kernel_that_never_ends(life: Callable[..., str]) -> None:
    assert life("exit") == "leaving"


def test_kernel_time_out(life: Callable[..., str]) -> None:
    assert life("time-out", SIM_KERNEL_TIMEOUT_MS="50") == "702"


def test_threads_make_use_and_destroy(life: Callable[..., str]) -> None:
    assert life("threads") == "done"


def test_threads_capture_and_disturb_each_other(life: Callable[..., str]) -> None:
    assert life("captures") == "done"
