"""GPU MODE's tasks: a folder with task.yml and reference.py (https://github.com/gpu-mode/reference-kernels).

task.yml names the files that lie beside each other when the task runs, and the arguments of each test and each
benchmark. reference.py has generate_input(**arguments), ref_kernel(data) and check_implementation(data, output). The
submission is a function custom_kernel(data).

Each test and each benchmark is a case: test.0, test.1, ..., benchmark.0, ... Their seeds are public, so `seed` is
replaced by a secret one. Only check_implementation decides whether an output is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import UsageError
from ..ipc.text import one_line
from ..problem import distributions
from ..problem.errors import ProblemError, blaming
from ..problem.suite import Suite
from .detect import TASK_FILE
from .gpumode_case import GpuModeCase, Task
from .host import device_for
from .modules import TaskModules
from .options import known, one_of

OPTIONS = {"device": "auto", "cases": "all", "distributions": distributions.OWN}
"""Options: the device of the task's code; all, tests or benchmarks; and distributions of benchguard.problem, separated
by commas, of which the first stands for the task's own inputs. The default has no others, because they may break
properties that a task needs (sorted, symmetric)."""

ENTRY = "custom_kernel"
_SUBMISSION = "@SUBMISSION@"
_KINDS = {"tests": "test", "benchmarks": "benchmark"}


@dataclass(frozen=True)
class TaskFile:
    """task.yml: `files` by module name; `arguments` of each case by kind ("tests", "benchmarks")."""

    path: Path
    files: dict[str, Path]
    arguments: dict[str, tuple[dict[str, Any], ...]]


def load(spec: str, options: Mapping[str, str]) -> Suite:
    settings = known(options, OPTIONS, "gpumode")
    kinds = one_of(settings, "cases", ("all", *_KINDS))
    names = tuple(each.strip() for each in settings["distributions"].split(","))
    if len(set(names)) < len(names) or not set(names) <= set(distributions.NAMES):
        raise UsageError(
            f"distributions cannot be {settings['distributions']!r}; give some of {', '.join(distributions.NAMES)}"
        )
    path = Path(spec)
    file = read_task((path if path.name == TASK_FILE else path / TASK_FILE).resolve())
    task = _task_of(file, device_for(settings["device"]))
    cases = tuple(
        GpuModeCase(task, f"{_KINDS[kind]}.{number}", arguments, names)
        for kind in _KINDS
        if kinds in ("all", kind)
        for number, arguments in enumerate(file.arguments[kind])
    )
    if not cases:
        raise ProblemError(f"{file.path}: no {'cases' if kinds == 'all' else kinds}; add one")
    return Suite(file.path.parent.name, cases, cases[0].convention, ENTRY)


def read_task(path: Path) -> TaskFile:
    """Raises UsageError if the file is missing, ProblemError if it is not a task."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); give a folder that has a {TASK_FILE}") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ProblemError(f"{path}: invalid YAML: {one_line(str(error))}") from error
    if not isinstance(document, dict):
        raise ProblemError(f"{path}: holds no mapping; it needs files, tests and benchmarks")
    return TaskFile(
        path,
        _files_of(path, document.get("files", [])),
        {kind: _arguments_of(path, kind, document.get(kind) or []) for kind in _KINDS},
    )


def spec_text(arguments: Mapping[str, Any]) -> str:
    """A case's arguments on one line, as kernelbot writes them."""
    return "; ".join(f"{name}: {value}" for name, value in arguments.items())


def _files_of(path: Path, entries: object) -> dict[str, Path]:
    """Python files by module name. A missing file is an error only if it is imported."""
    files = {}
    for each in entries if isinstance(entries, list) else []:
        name, source = (
            (each.get(key) for key in ("name", "source")) if isinstance(each, dict) else (None,) * 2
        )
        if not isinstance(name, str) or not isinstance(source, str):
            raise ProblemError(f"{path}: files has {each!r}; each is {{name: ..., source: ...}}")
        if source != _SUBMISSION and name.endswith(".py") and (path.parent / source).is_file():
            files[name.removesuffix(".py")] = (path.parent / source).resolve()
    beside = path.parent / "reference.py"
    if "reference" not in files and beside.is_file():
        files["reference"] = beside
    if "reference" not in files:
        raise ProblemError(f"{path}: files has no reference.py; add it")
    return files


def _arguments_of(path: Path, kind: str, entries: object) -> tuple[dict[str, Any], ...]:
    good = isinstance(entries, list) and all(
        isinstance(each, dict) and all(isinstance(name, str) for name in each) for each in entries
    )
    if not good:
        raise ProblemError(
            f"{path}: {kind} must be a list of arguments by name, such as {{size: 128, seed: 1}}"
        )
    assert isinstance(entries, list)
    return tuple(dict(each) for each in entries)


def _task_of(file: TaskFile, device: str) -> Task:
    modules = TaskModules.listed(file.files)
    reference = modules.load("reference")
    path = file.files["reference"]
    functions = []
    for name in ("generate_input", "ref_kernel", "check_implementation"):
        with blaming(path, name):
            if not callable(getattr(reference, name, None)):
                raise ProblemError(f"{path}: has no {name}; define it")
            functions.append(getattr(reference, name))
    return Task(path, modules, device, *functions)
