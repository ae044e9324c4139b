"""The processes that decode hostile bytes (engine/replay/capture/processes.c)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ENGINE = Path(__file__).parents[3] / "engine"
SOURCES = (
    Path(__file__).parent / "programs" / "forks.c",
    ENGINE / "replay/capture/processes.c",
    ENGINE / "replay/base/error.c",
)


def test_two_threads_fork_one_after_the_other(compile_c: Callable[..., Path]) -> None:
    """Handlers of pthread_atfork, such as that of numpy's OpenBLAS, hang or crash when two threads run them at once."""
    program = compile_c("forks", *SOURCES, flags=(f"-I{ENGINE}", "-D_GNU_SOURCE"))
    ran = subprocess.run([program], capture_output=True, text=True, check=False, timeout=100)
    assert (ran.returncode, ran.stdout) == (0, "0 overlaps\n"), ran.stderr
