"""Problems in other formats: GPU MODE's tasks, KernelBench's files, LeetGPU's challenges, pygpubench's generators.

A task's own code is trusted. It runs in the judge's process only, which submissions cannot reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import BenchguardError, UsageError
from .calling import LEETGPU, PYGPUBENCH, Calling, of_kernelbench
from .detect import adapter_of, check_path
from .options import known

if TYPE_CHECKING:  # a supervisor asks only for names and limits, and numpy takes 0.1 s
    from ..problem.suite import Suite

NAMES = ("auto", "problem", "gpumode", "kernelbench", "leetgpu", "pygpubench")


def time_limit(spec: str, adapter: str = "auto") -> float | None:
    """The seconds that the suite's own harness gives a ranked submission; None without such a limit.

    No code of the problem runs. Mistakes in its files are reported when it is opened.
    """
    if (adapter_of(spec) if adapter == "auto" else adapter) != "gpumode":
        return None
    try:
        seconds: float = import_module(".gpumode", __name__).time_limit(spec)
    except BenchguardError:
        return None
    return seconds


def calling(spec: str, adapter: str = "auto") -> Calling | None:
    """How submissions are called, if the files of a problem of another suite tell it without any of its code being run.

    Mistakes in the files are reported when the problem is opened.
    """
    try:
        chosen = _chosen(spec, adapter)
        if chosen == "gpumode":
            found: Calling | None = _module(chosen).calling(spec)
            return found
    except BenchguardError:
        return None
    return {"leetgpu": LEETGPU, "pygpubench": PYGPUBENCH}.get(chosen) or of_kernelbench(spec)


def load_suite(spec: str, adapter: str = "auto", options: Mapping[str, str] = {}) -> Suite:
    """Open a problem. `auto` detects the format, except pygpubench, which must be named.

    problem      PATH[:CLASS], a Python file with a benchguard.Problem, or a folder of Tensara's with def.py
    gpumode      a folder with task.yml
    kernelbench  a Python file with Model, get_inputs and get_init_inputs
    leetgpu      a challenge.py with a class Challenge, or its folder
    pygpubench   PATH:FUNCTION or MODULE.FUNCTION, a test generator

    Raises ProblemError for mistakes in the files, UsageError for invalid arguments.
    """
    chosen = _chosen(spec, adapter)
    load = _module(chosen).load
    suite: Suite = load(spec, "problem", options) if chosen == "problem" else load(spec, options)
    return suite


def check_options(spec: str, adapter: str, options: Mapping[str, str]) -> None:
    """Raises UsageError for an option that the problem's format does not have, and for a path that is not UTF-8.

    No code of the problem runs.
    """
    check_path(spec)
    if options:
        chosen = _chosen(spec, adapter)
        known(options, _module(chosen).OPTIONS, chosen)


def _chosen(spec: str, adapter: str) -> str:
    if adapter not in NAMES:
        raise UsageError(f"unknown adapter {adapter!r}; give {', '.join(NAMES)}")
    return adapter_of(spec) if adapter == "auto" else adapter


def _module(adapter: str) -> ModuleType:
    name = "..problem.load" if adapter == "problem" else f".{adapter}"
    return import_module(name, __name__)  # imported here, because adapters import YAML or torch
