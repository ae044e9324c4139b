"""Detect the format of a problem from its files, without running them."""

from __future__ import annotations

import ast
import os
from pathlib import Path

from ..errors import UsageError

TASK_FILE = "task.yml"
_KERNELBENCH = {"get_inputs", "get_init_inputs"}
"""A file with Model and one of these functions is a problem of KernelBench. Its adapter names the missing one."""
LEETGPU_FILE = "challenge.py"


def check_path(spec: str) -> None:
    """Raises UsageError for a path that is not UTF-8, which messages between processes and results cannot have."""
    # A folder above, or the target of a link, may have such a name.
    for path in (spec, os.path.realpath(spec)):
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"the problem's path {path} is not UTF-8; rename the file or folder") from error


def adapter_of(spec: str) -> str:
    """The format of a problem. Raises UsageError for a path that is not UTF-8."""
    check_path(spec)
    path = Path(spec)
    if path.name == TASK_FILE or (path / TASK_FILE).is_file():
        return "gpumode"
    if path.name == LEETGPU_FILE or (path / LEETGPU_FILE).is_file():
        return "leetgpu"
    if path.suffix == ".py" and path.is_file():
        defined = defined_in(path)
        if "Model" in defined and defined & _KERNELBENCH:
            return "kernelbench"
    return "problem"


def defined_in(path: Path) -> set[str]:
    """Names of a file's top-level functions and classes; empty if the file cannot be parsed."""
    tree = parsed(path)
    found = tree.body if tree is not None else ()
    return {each.name for each in found if isinstance(each, (ast.FunctionDef, ast.ClassDef))}


def parsed(path: Path) -> ast.Module | None:
    """A Python file; None if it cannot be parsed."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
