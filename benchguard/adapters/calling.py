"""How a problem's submissions are called, as its files tell it without any of its code being run.

A submission is then imported while the problem is opened, and both import torch.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .detect import parsed

GPUMODE_ENTRY, KERNELBENCH_ENTRY = "custom_kernel", "ModelNew"
LEETGPU_ENTRY, PYGPUBENCH_ENTRY = "solve", "kernel"
LEETGPU_FILES = {"solve.h": Path(__file__).parent / "leetgpu_files" / "solve.h"}
"""Submissions in CUDA C++ that follow LeetGPU's early starting code include it."""


@dataclass(frozen=True)
class Calling:
    """The function or class that is called, the convention (quarantine/contract.py), and files beside a submission."""

    entry: str
    convention: str
    files: Mapping[str, Path] = field(default_factory=dict)


LEETGPU = Calling(LEETGPU_ENTRY, "arguments", LEETGPU_FILES)
PYGPUBENCH = Calling(PYGPUBENCH_ENTRY, "output_first")


def of_kernelbench(spec: str) -> Calling | None:
    """Modules take a dictionary of get_inputs by keywords, so its result must be a list or a tuple, written out."""
    return Calling(KERNELBENCH_ENTRY, "module") if _returns_lists(Path(spec)) else None


def _returns_lists(path: Path) -> bool:
    tree = parsed(path)
    functions = [
        each
        for each in (tree.body if tree is not None else ())
        if isinstance(each, ast.FunctionDef) and each.name == "get_inputs"
    ]
    if len(functions) != 1:
        return False
    returns = [each for each in ast.walk(functions[0]) if isinstance(each, ast.Return)]
    return bool(returns) and all(isinstance(each.value, (ast.List, ast.Tuple)) for each in returns)
