"""torch.use_deterministic_algorithms in a task's code, which imports torch's compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

TASK = """
import sys
import torch
from benchguard.adapters.host import running_on

def states():
    real = torch.use_deterministic_algorithms
    with running_on("cpu"):
        for mode, warn_only in ((True, False), (True, True), (False, False)):
            torch.use_deterministic_algorithms(mode, warn_only=warn_only)
            yield torch.get_deterministic_debug_mode()
    assert torch.use_deterministic_algorithms is real
"""


def ran(text: str) -> None:
    subprocess.run([sys.executable, "-c", TASK + text], check=True, timeout=120)


def test_deterministic_algorithms_set_without_importing_the_compiler() -> None:
    ran("assert list(states()) == [2, 1, 0]\nassert 'torch._inductor' not in sys.modules")


def test_imported_compiler_told_of_deterministic_algorithms() -> None:
    if not hasattr(pytest.importorskip("torch._inductor.config"), "deterministic"):
        pytest.skip("this torch's compiler has no such option")
    ran("""
from torch._inductor import config
seen = [(mode, config.deterministic) for mode in states()]
assert seen == [(2, True), (1, True), (0, False)]
""")
