"""Run a problem's code on tensors without data: the shapes of its inputs and results, at no cost.

A problem can have gigabytes of inputs, and its reference can take minutes on a CPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar

from .dispatch import function_mode
from .errors import ProblemError

T = TypeVar("T")

FAILURES = (ProblemError, RuntimeError, TypeError)
"""Exceptions of code that looks at values of tensors without data. torch raises the last two."""

_DEVICE = re.compile(r"(?:cpu|cuda)(?::\d+)?")


@contextmanager
def without_data() -> Iterator[None]:
    """A context in which torch computes shapes and dtypes only. Code that looks at values fails in it.

    The first one imports torch's compiler, which takes 3 to 5 s (torch 2.13).
    """
    mode = import_module("torch._subclasses.fake_tensor").FakeTensorMode
    with mode(allow_non_fake_inputs=True):
        yield


def outlined(draw: Callable[[], T], with_data: Callable[[], T] | None = None) -> T:
    """The result of `draw`, whose tensors have no data; of `with_data`, or of `draw` outside of these contexts, if
    `draw` looks at values. It is called up to three times."""
    for context in (on_meta, without_data):
        with suppress(*FAILURES), context():
            return draw()
    return (with_data or draw)()


@contextmanager
def on_meta() -> Iterator[None]:
    """As without_data(), and few operators import the compiler: torch makes all tensors on its device `meta`, whichever
    device is asked for. Code that uses tensors from outside of the context may fail, too."""
    torch = import_module("torch")

    def place(value: Any) -> Any:
        is_device = isinstance(value, torch.device) or (isinstance(value, str) and _DEVICE.fullmatch(value))
        return "meta" if is_device else value

    def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if function in (torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.pin_memory):
            return args[0]
        named = {name: place(value) for name, value in kwargs.items() if name != "generator"}
        return function(*map(place, args), **named)

    with function_mode(call), torch.device("meta"):
        yield
