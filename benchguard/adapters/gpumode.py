"""GPU MODE's tasks: a folder with task.yml and reference.py (https://github.com/gpu-mode/reference-kernels).

task.yml names the files that lie beside each other when the task runs, and the arguments of each test and each
benchmark. reference.py has generate_input(**arguments), ref_kernel(data) and check_implementation(data, output). The
submission is a function custom_kernel(data). It may import the task's other files, task.py and utils.py.

Each test and each benchmark is a case: test.0, test.1, ..., benchmark.0, ... Their seeds are public, so `seed` is
replaced by a secret one. Only check_implementation decides whether a result is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from ..errors import UsageError
from ..ipc.text import one_line
from ..problem import distributions
from ..problem.errors import ProblemError
from ..problem.ranking import RANKINGS
from ..problem.suite import Suite
from .calling import GPUMODE_ENTRY, Calling
from .detect import TASK_FILE, defined_in
from .gpumode_case import GpuModeCase
from .gpumode_refused import refusal
from .gpumode_several import GENERATE, SeveralFunctions, references_of
from .gpumode_task import NAMES, OneFunction, Task
from .host import device_for
from .modules import TaskModules
from .options import known, one_of

OPTIONS = {"device": "auto", "cases": "all", "distributions": distributions.OWN}
"""Options: the device of the task's code; all, tests or benchmarks; and distributions of benchguard.problem, separated
by commas, of which the first stands for the task's own inputs. The default has no others, because they may break
properties that a task needs (sorted, symmetric)."""

REFERENCE = "reference.py"
_SUBMISSION = "@SUBMISSION@"
_KINDS = {"tests": "test", "benchmarks": "benchmark"}


_HIDDEN = ("reference", "eval")
"""Modules that are not placed beside a submission: those that the suite's own harness runs."""

_TIMEOUTS = ("test_timeout", "benchmark_timeout", "ranked_timeout")
SECONDS = 180.0
"""kernelbot's default for each limit."""
SECONDS_MAX = 100_000


@dataclass(frozen=True)
class TaskFile:
    """task.yml: `files` by name; `arguments` of each case by kind ("tests", "benchmarks").

    `missing` has the sources of listed files that do not exist, by name.
    `ranking` is the rule by which kernelbot makes one score of the benchmarks' times.
    """

    path: Path
    files: dict[str, Path]
    missing: dict[str, str]
    arguments: dict[str, tuple[dict[str, Any], ...]]
    ranking: str
    timeouts: tuple[float, ...]
    main: str

    @property
    def modules(self) -> dict[str, Path]:
        return {name.removesuffix(".py"): path for name, path in self.files.items() if name.endswith(".py")}

    @property
    def beside(self) -> dict[str, Path]:
        """The files that a submission may read or import."""
        return {
            name: path
            for name, path in self.files.items()
            if name != self.main and Path(name).stem not in _HIDDEN
        }


def calling(spec: str) -> Calling | None:
    """See adapters.calling(). A task whose reference.py has no generate_input has several functions, and its code tells
    their names."""
    task = _read(spec)
    if NAMES[0] not in defined_in(task.files[REFERENCE]):
        return None
    return Calling(GPUMODE_ENTRY, "data", task.beside)


def load(spec: str, options: Mapping[str, str]) -> Suite:
    chosen = known(options, OPTIONS, "gpumode")
    kinds = one_of(chosen, "cases", ("all", *_KINDS))
    names = distributions.named(chosen["distributions"])
    file = _read(spec)
    task = _task_of(file, device_for(chosen["device"]))
    cases = tuple(
        GpuModeCase(task, f"{_KINDS[kind]}.{number}", arguments, names)
        for kind in _KINDS
        if kinds in ("all", kind)
        for number, arguments in enumerate(file.arguments[kind])
    )
    if not cases:
        raise ProblemError(f"{file.path}: no {'cases' if kinds == 'all' else kinds}; add one")
    cases[0].check_reference()
    entry = next(iter(task.form.functions), GPUMODE_ENTRY)
    return Suite(
        file.path.parent.name,
        cases,
        "data",
        entry,
        tensors=True,
        files=file.beside,
        ranking=file.ranking,
        perhaps_smallest=_not_larger(cases),
    )


def _not_larger(cases: tuple[GpuModeCase, ...]) -> tuple[GpuModeCase, ...]:
    """The cases that are not at least as large as another one by their arguments.

    The inputs of the others are not drawn to find the smallest case. sort_py draws each row by itself, which took 20 s
    for all benchmarks even without data.
    """
    found: list[GpuModeCase] = []
    for case in cases:
        if not any(_is_at_most(each, case) for each in found):
            found = [*(each for each in found if not _is_at_most(case, each)), case]
    return tuple(found)


def _is_at_most(one: GpuModeCase, other: GpuModeCase) -> bool:
    """Whether no number among the arguments is larger than the other's, and the rest is equal. Seeds do not count."""
    if one.given.keys() != other.given.keys():
        return False
    pairs = [(value, other.given[name]) for name, value in one.given.items() if name != "seed"]
    return all(a <= b if type(a) is type(b) is int else a == b for a, b in pairs)


def time_limit(spec: str) -> float:
    """kernelbot runs the tests, the benchmarks and the ranked benchmarks one after the other, each with a limit."""
    return sum(_read(spec).timeouts)


def _read(spec: str) -> TaskFile:
    path = Path(spec)
    return read_task((path if path.name == TASK_FILE else path / TASK_FILE).resolve())


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
    refused = refusal(path, document)
    if refused:
        raise ProblemError(refused)
    ranking = document.get("ranking_by", RANKINGS[0])
    if ranking not in RANKINGS:
        raise ProblemError(f"{path}: ranking_by is {ranking!r}; give {', '.join(RANKINGS)}")
    config = document.get("config")
    return TaskFile(
        path,
        *_files_of(path, document.get("files", [])),
        {kind: _arguments_of(path, kind, document.get(kind) or []) for kind in _KINDS},
        ranking,
        tuple(_seconds_of(path, name, document.get(name, SECONDS)) for name in _TIMEOUTS),
        str(config.get("main", "")) if isinstance(config, dict) else "",
    )


def _files_of(path: Path, listed: object) -> tuple[dict[str, Path], dict[str, str]]:
    """Files by name, and the sources of missing ones. A missing file is an error only if it is imported.

    A file that its source does not have is searched beside task.yml: a task that was copied out of its suite keeps the
    source ../utils.py.
    """
    found: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for each in listed if isinstance(listed, list) else []:
        name, source = (
            (each.get(key) for key in ("name", "source")) if isinstance(each, dict) else (None,) * 2
        )
        if not isinstance(name, str) or not isinstance(source, str):
            raise ProblemError(f"{path}: files has {each!r}; each is {{name: ..., source: ...}}")
        if not name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise ProblemError(f"{path}: files has the name {name!r}; give a path below the task's folder")
        if source == _SUBMISSION:
            continue
        place = next((each for each in (path.parent / source, path.parent / name) if each.is_file()), None)
        if place is None:
            missing[name] = source
        else:
            found[name] = place.resolve()
    beside = path.parent / REFERENCE
    if REFERENCE not in found and beside.is_file():
        found[REFERENCE] = beside
    if REFERENCE not in found:
        raise ProblemError(f"{path}: files has no reference.py; add it")
    return found, missing


def _seconds_of(path: Path, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= SECONDS_MAX:
        raise ProblemError(f"{path}: {name} is {value!r}; give a number of seconds up to {SECONDS_MAX}")
    return float(value)


def _arguments_of(path: Path, kind: str, listed: object) -> tuple[dict[str, Any], ...]:
    good = isinstance(listed, list) and all(
        isinstance(each, dict) and all(isinstance(name, str) for name in each) for each in listed
    )
    if not good:
        raise ProblemError(
            f"{path}: {kind} must be a list of arguments by name, such as {{size: 128, seed: 1}}"
        )
    assert isinstance(listed, list)
    return tuple(dict(each) for each in listed)


def _task_of(file: TaskFile, device: str) -> Task:
    modules = TaskModules.listed(file.modules)
    path = file.files[REFERENCE]
    module = _imported(file, modules)
    several = hasattr(module, GENERATE) and not hasattr(module, NAMES[0]) and references_of(module)
    harness = file.files.get(file.main)
    if several and harness is not None:
        return Task(path, modules, device, SeveralFunctions(module, path, harness))
    return Task(path, modules, device, OneFunction(module, path))


def _imported(file: TaskFile, modules: TaskModules) -> ModuleType:
    try:
        return modules.load("reference")
    except ProblemError as error:
        cause = error.__cause__
        source = file.missing.get(f"{cause.name}.py") if isinstance(cause, ModuleNotFoundError) else None
        if source is None:
            raise
        raise ProblemError(
            f"{error}; {file.path.name} lists {source}, which does not exist: copy it there from the task's suite"
        ) from error
