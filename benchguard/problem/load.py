"""Open a problem: a Python file with a subclass of benchguard.Problem, which is trusted code."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import UsageError
from . import tensara
from .author import Author
from .case import ProblemCase
from .errors import ProblemError, blaming
from .problem import Problem
from .signature import Parameter, parameters_of
from .sources import Source, Sources, sources_of, spec_of
from .spec import ELEMENT_BYTES
from .suite import Suite, TestCase

TENSARA_FILE = "def.py"
"""The problem in each folder of Tensara's."""

OPTIONS = {
    "device": "where references are computed: auto, cpu, cuda",
    "dtype": "what problems in the seed form are asked for: float32, ...",
    "sample": "yes: the sample is the only case",
}


def load(spec: str, adapter: str = "problem", options: Mapping[str, str] = {}) -> Suite:
    """`spec` is PATH[:CLASS]. Raises ProblemError for mistakes in the file, UsageError for invalid arguments."""
    if adapter != "problem":
        raise UsageError(f"unknown adapter {adapter!r}; give 'problem'")
    return suite_of(*opened(spec), options)


def opened(spec: str) -> tuple[Problem, Path]:
    """The problem and its file."""
    path, name = _path_and_name(spec)
    module = _module_of(path)
    classes = {
        each.__name__: each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Problem) and each.__module__ == module.__name__
    }
    if name:
        if name not in classes:
            raise UsageError(f"{path} has no problem {name}; it has {', '.join(classes) or 'none'}")
        problem_class = classes[name]
    else:
        concrete = [each for each in classes.values() if not inspect.isabstract(each)] or list(
            classes.values()
        )
        if not concrete:
            raise UsageError(
                f"{path} has no problem; define a class that extends Problem, or, in KernelBench's form, Model, "
                "get_inputs and get_init_inputs"
            )
        if len(concrete) != 1:
            names = ", ".join(each.__name__ for each in concrete)
            raise UsageError(f"{path} has {len(concrete)} problems ({names}); name one as {path}:CLASS")
        problem_class = concrete[0]
    missing = sorted(getattr(problem_class, "__abstractmethods__", ()))
    if missing:
        line = inspect.getsourcelines(problem_class)[1]
        raise ProblemError(
            f"{path}:{line}: class {problem_class.__name__} has no {' and no '.join(missing)}; define it"
        )
    with blaming(path, f"{problem_class.__name__}()"):
        problem = problem_class()  # type: ignore[call-arg]
        if not isinstance(getattr(problem, "name", None), str):
            raise ProblemError(f"{path}: {problem_class.__name__} has no name; call super().__init__(name)")
    return problem, path


def suite_of(problem: Problem, path: Path | None = None, options: Mapping[str, str] = {}) -> Suite:
    """A suite for a problem object."""
    for key in options:
        if key not in OPTIONS:
            raise UsageError(f"unknown problem option {key!r}; options are {', '.join(OPTIONS)}")
    dtype = options.get("dtype", "float32")
    if dtype not in ELEMENT_BYTES:
        raise UsageError(f"invalid dtype {dtype!r}; give {', '.join(ELEMENT_BYTES)}")
    path = path or Path(inspect.getfile(type(problem)))
    sample = options.get("sample", "no") == "yes"
    author = Author(problem, path, _device(problem, options.get("device", "auto")), dtype, sample)
    parameters = signature_of(problem, path, dtype)
    test_cases = author.test_cases()
    names = [str(each["name"]) for each in test_cases]
    for each in names:
        if not each or names.count(each) > 1:
            raise ProblemError(
                f"{path}: the test case name {each!r} is empty or used twice; give each case its own name"
            )
    return Suite(
        problem.name,
        tuple(ProblemCase(author, parameters, number, each) for number, each in enumerate(test_cases)),
    )


def sample_of(problem: Problem, path: Path, options: Mapping[str, str]) -> tuple[TestCase, ...]:
    """The cases of generate_sample; empty if the problem does not define it."""
    if type(problem).generate_sample is Problem.generate_sample:
        return ()
    return suite_of(problem, path, {**options, "sample": "yes"}).cases


def signature_of(problem: Problem, path: Path, dtype: str = "") -> tuple[Parameter, ...]:
    with blaming(path, "get_function_signature"):
        return parameters_of(problem, str(path), dtype)


def _path_and_name(spec: str) -> tuple[Path, str]:
    path, colon, name = spec.rpartition(":")
    if not colon or not name.isidentifier():
        path, name = spec, ""
    file = Path(path)
    if file.is_dir():
        file /= TENSARA_FILE
        if not file.is_file():
            raise UsageError(
                f"{path} is a folder without {TENSARA_FILE}; give the path of the problem's Python file in it"
            )
    if not file.is_file():
        raise UsageError(f"no such problem: {path}; give the path of a Python file, or PATH:CLASS")
    return file.resolve(), name


def _module_of(path: Path) -> ModuleType:
    """Import the file under a unique name. The same path gives the same module."""
    name = f"benchguard_problem_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    if path.suffix != ".py":
        raise UsageError(f"{path} is not a Python file; give a file that ends in .py")
    specification = spec_of(name, Source.read(path))
    assert specification is not None and specification.loader is not None
    module = module_from_spec(specification)
    sys.modules[name] = module
    try:
        with blaming(path, "importing it"), _importable(sources_of(path), path):
            specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _importable(sources: Sources, path: Path) -> Iterator[None]:
    """Let the file import modules of its folder, and `problem`, from which Tensara's files import their base class."""
    previous: Any = sys.modules.get("problem")
    if path.stem == "problem" or "problem" not in sources.modules:
        sys.modules["problem"] = tensara
    try:
        with sources.importable():
            yield
    finally:
        if previous is None:
            sys.modules.pop("problem", None)
        else:
            sys.modules["problem"] = previous


def _device(problem: Problem, name: str) -> str:
    """torch's name of the device."""
    if name not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device cannot be {name!r}; give auto, cpu or cuda")
    if name == "cuda" and not problem.uses_torch():
        raise UsageError(
            "device is cuda, but the problem computes its references without torch; give auto or cpu"
        )
    if not problem.uses_torch() or name == "cpu":
        return "cpu"
    available = sys.modules["torch"].cuda.is_available()
    if name == "cuda" and not available:
        raise UsageError("device is cuda, but torch sees no GPU here; give auto or cpu")
    return "cuda" if available else "cpu"
