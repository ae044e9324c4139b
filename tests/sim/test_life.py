"""Fork, exit with queued work, timeouts and threads, each in a separate process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "life.c"


@pytest.fixture
def life(compile_c: Callable[..., Path], sim_path: Path) -> Callable[..., str]:
    program = compile_c("life", PROGRAM, links=(str(sim_path),))

    def run(mode: str, **environment: str) -> str:
        result = subprocess.run(
            [program, mode],
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "LD_LIBRARY_PATH": str(sim_path.parent), **environment},
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.strip()

    return run


def test_forked_child_gets_not_initialized(life: Callable[..., str]) -> None:
    assert life("fork-after") == "child 42"


def test_fork_before_init_has_no_effect(life: Callable[..., str]) -> None:
    assert life("fork-before") == "child 42"


def test_exit_with_endless_kernel_does_not_wait(life: Callable[..., str]) -> None:
    assert life("exit") == "leaving"


def test_kernel_timeout_is_reported(life: Callable[..., str]) -> None:
    assert life("time-out", SIM_KERNEL_TIMEOUT_MS="50") == "702"


def test_threads_create_use_and_destroy_objects(life: Callable[..., str]) -> None:
    assert life("threads") == "done"


def test_threads_with_conflicting_captures_stay_consistent(life: Callable[..., str]) -> None:
    assert life("captures") == "done"
