"""Write problem files for tests, and open them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from benchguard.problem.load import load
from benchguard.problem.suite import Suite

GIVEN = Path(__file__).parent / "given"

HEAD = """
import numpy as np
from benchguard import Problem

def buffer(name, type="float", const=False):
    return {"name": name, "type": type, "pointer": True, "const": const}

def number(name, type="size_t"):
    return {"name": name, "type": type, "pointer": False, "const": False}

class Base(Problem):
    parameters = [buffer("x", const=True), buffer("y")]

    def __init__(self):
        super().__init__("written")

    def draw_x(self):
        return (np.random.default_rng(self.get_seed("x")).standard_normal(256).astype(np.float32),)

    def generate_test_cases(self):
        return [{"name": "small", "create_inputs": self.draw_x}]

    def reference_solution(self, x):
        return 2 * x
"""


def write(folder: Path, body: str, head: str = HEAD) -> Path:
    """A file whose class Written is `body`."""
    path = folder / "written.py"
    path.write_text(head + "\n" + textwrap.dedent(body))
    return path


def suite(folder: Path, body: str, **options: str) -> Suite:
    return load(f"{write(folder, body)}:Written", options=options)
