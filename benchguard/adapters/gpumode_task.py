"""The code of a GPU MODE task: its generator, its reference, and its check."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from ..ipc.text import one_line
from ..problem.errors import ProblemError, blaming
from .host import running_on
from .modules import TaskModules

NAMES = ("generate_input", "ref_kernel", "check_implementation")


class Form(Protocol):
    """How a task names its functions, and how it calls a submission's."""

    functions: tuple[str, ...]
    """The submission's functions, if there are several. Then data is a tuple of their arguments."""

    takes_seed: bool

    def generate(self, arguments: Mapping[str, Any]) -> Any:
        """The argument of the submission's function; or for several functions, a tuple of argument tuples."""
        ...

    def reference(self, data: Any) -> Any:
        """The right result; or for several functions, a tuple of results."""
        ...

    def check(self, data: Any, output: Any) -> str | None:
        """Why the task rejects a result; None if the task accepts it."""
        ...


@dataclass(frozen=True)
class Task:
    """`path` is that of reference.py; `device` is torch's name of the device on which the task's code runs."""

    path: Path
    modules: TaskModules
    device: str
    form: Form

    @contextmanager
    def running(self, doing: str) -> Iterator[None]:
        """A context for the task's code. Exceptions become ProblemError."""
        with self.modules.active(), running_on(self.device), blaming(self.path, doing):
            yield


class OneFunction:
    """The usual form: custom_kernel(generate_input(**arguments)), checked by check_implementation."""

    functions: tuple[str, ...] = ()

    def __init__(self, module: ModuleType, path: Path) -> None:
        for name in NAMES:
            if not callable(getattr(module, name, None)):
                raise ProblemError(f"{path}: has no {name}; define it")
        self._generate, self._reference, self._check = (getattr(module, name) for name in NAMES)
        self.takes_seed = takes_seed(self._generate)

    def generate(self, arguments: Mapping[str, Any]) -> Any:
        return self._generate(**arguments)

    def reference(self, data: Any) -> Any:
        return self._reference(data)

    def check(self, data: Any, output: Any) -> str | None:
        return reason_of(self._check(data, output))


def takes_seed(function: Callable[..., Any]) -> bool:
    try:
        return "seed" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def reason_of(said: Any) -> str | None:
    """The reason for rejection in a result of check_implementation: a bool, (bool, text), or text, empty if right."""
    words: object = ""
    good = said
    if isinstance(said, tuple) and len(said) == 2:
        good, words = said
    elif isinstance(said, (str, list)):
        good, words = not said, said
    if bool(good):
        return None
    text = "\n".join(map(str, words)) if isinstance(words, list) else str(words)
    return one_line(text) or "no reason given"
