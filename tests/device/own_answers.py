"""Submissions that are a problem's own reference, unchanged: each must pass its own problem. Or its starter: wrong.

The reference's file is copied and gets the submission's entry point at its end. A submission cannot import the modules
of a suite's own harness, so a copy for Tensara or LeetGPU begins with replacements for them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from .pairs import REFERENCE, STARTER, Pair

ROOT = Path(__file__).resolve().parents[2]

_GPUMODE = "\n\ncustom_kernel = ref_kernel\n"

_LEETGPU_HEAD = """\
import sys
import types


class _Described:
    def __init__(self, *arguments, **named):
        pass


_base = types.ModuleType("core.challenge_base")
for _name in ("RandTensor", "RandnTensor", "RandIntTensor", "FullTensor", "OutTensor"):
    setattr(_base, _name, _Described)


class _Base:
    def __init__(self, *arguments, **named):
        self.device = named.get("device", "cuda")


_base.ChallengeBase = _Base
sys.modules["core"] = types.ModuleType("core")
sys.modules["core.challenge_base"] = _base
"""
_LEETGPU_TAIL = """

def solve(*arguments):
    Challenge(device="cuda").reference_impl(*arguments)
"""

_TENSARA_HEAD = """\
import sys
import types

_module = types.ModuleType("problem")


class _Problem:
    is_exact = False

    def __init__(self, name="", *arguments, **named):
        self.name = name

    def param_dtype(self, index):
        import torch

        names = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}
        kind = self.parameters[index]["type"]
        return getattr(torch, names.get(kind, kind), torch.float32)

    @staticmethod
    def get_seed(text):
        return 0


_module.Problem = _Problem
sys.modules["problem"] = _module
"""
_TENSARA_TAIL = """

def solution(*arguments):
    problem = {name}()
    count = {inputs}
    result = problem.reference_solution(*arguments[:count])
    results = result if isinstance(result, tuple) else (result,)
    for place, value in zip(arguments[count:], results):
        place.copy_(value.reshape(place.shape))
"""


class NoReferenceError(Exception):
    """The problem has no reference that can be submitted, or no starter."""


def submission_of(pair: Pair, folder: Path, scratch: Path) -> Path:
    """The submission of a pair: its file in `folder`, or the problem's own reference or starter, written to `scratch`.

    Raises NoReferenceError, OSError.
    """
    if pair.submission not in (REFERENCE, STARTER):
        return folder / pair.submission
    problem = folder / pair.problem
    if pair.form == "kernelbench" and pair.submission == REFERENCE:
        return problem
    scratch.mkdir(parents=True, exist_ok=True)
    if pair.submission == STARTER:
        return _starter(pair, problem, scratch)
    written = scratch / f"{pair.id}.py"
    written.write_text(_answer(pair, problem), encoding="utf-8")
    return written


def _starter(pair: Pair, problem: Path, scratch: Path) -> Path:
    """A starter, from a process of its own, because the problem's code runs."""
    written = scratch / f"{pair.id}{'.py' if pair.form in ('gpumode', 'kernelbench') else '.cu'}"
    command = [sys.executable, "-m", "benchguard", "starter", str(problem), "-o", str(written)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoReferenceError(f"{pair.id}: no starter: {done.stderr.strip()}")
    return written


def _answer(pair: Pair, problem: Path) -> str:
    if pair.form == "gpumode":
        task = problem.parent if problem.name == "task.yml" else problem
        return (task / "reference.py").read_text(encoding="utf-8") + _GPUMODE
    if pair.form == "leetgpu":
        challenge = problem / "challenge.py" if problem.is_dir() else problem
        return _LEETGPU_HEAD + challenge.read_text(encoding="utf-8") + _LEETGPU_TAIL
    if pair.form == "tensara":
        text = problem.read_text(encoding="utf-8")
        name, inputs = _problem_class(text)
        return _TENSARA_HEAD + text + _TENSARA_TAIL.format(name=name, inputs=inputs)
    raise NoReferenceError(f"{pair.id}: a problem of the form {pair.form} has no reference of its own")


def _problem_class(text: str) -> tuple[str, int]:
    """The name of a file's class with reference_solution, and the number of inputs of that function."""
    for node in ast.parse(text).body:
        for each in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(each, ast.FunctionDef) and each.name == "reference_solution":
                assert isinstance(node, ast.ClassDef)
                return node.name, len(each.args.args) - 1
    raise NoReferenceError("the file has no class with reference_solution")
