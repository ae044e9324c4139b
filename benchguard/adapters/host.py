"""Run tasks written for a GPU, torch.rand(..., device="cuda"), on the CPU if the judge has no GPU.

The CPU's generator gives other numbers than a GPU's. That is harmless: seeds are secret, and the reference is computed
from the same numbers that the submission gets.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UsageError
from ..problem.dispatch import function_mode
from .block_scaled import is_block_scaled, scaled_mm


def device_for(name: str) -> str:
    """torch's name of the device for a task's own code. Raises UsageError."""
    if name not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device cannot be {name!r}; give auto, cpu or cuda")
    available = name != "cpu" and bool(torch_module().cuda.is_available())
    if name == "cuda" and not available:
        raise UsageError("device is cuda, but torch sees no GPU here; give auto or cpu")
    return "cuda" if available else "cpu"


def torch_module() -> Any:
    """The torch module. Raises UsageError if torch is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise UsageError("this problem is written with torch, which is not installed; install it") from error


@contextmanager
def running_on(device: str) -> Iterator[None]:
    """A context for a task's code, without gradients. With "cpu", its uses of "cuda" mean the CPU."""
    torch = torch_module()
    with torch.no_grad(), _without_compiler(torch):
        if device != "cpu":
            yield
            return
        generator, synchronize = torch.Generator, torch.cuda.synchronize
        torch.Generator = _generator_on_host(generator)
        torch.cuda.synchronize = lambda device=None: None  # noqa: ARG005
        try:
            with function_mode(_on_host):
                yield
        finally:
            torch.Generator, torch.cuda.synchronize = generator, synchronize


@contextmanager
def _without_compiler(torch: Any) -> Iterator[None]:
    """A context in which torch.use_deterministic_algorithms sets only what eager operations read.

    torch 2.13 imports its compiler there, to set an option of that, too. This takes 3 to 4 s, and GPU MODE's references
    call it. Once the compiler is imported, its option is set as always.
    """
    real = torch.use_deterministic_algorithms

    def set_(mode: bool, *, warn_only: bool = False) -> None:
        if "torch._inductor.config" in sys.modules:
            real(mode, warn_only=warn_only)
        else:
            torch.set_deterministic_debug_mode((1 if warn_only else 2) if mode else 0)

    torch.use_deterministic_algorithms = set_
    try:
        yield
    finally:
        torch.use_deterministic_algorithms = real


UNINITIALISED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")


@contextmanager
def filling_memory(byte: int) -> Iterator[None]:
    """A context in which torch.empty and its like give memory whose bytes all equal `byte`."""

    def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = function(*args, **kwargs)
        if getattr(function, "__name__", "") in UNINITIALISED and not made.is_meta:
            made.untyped_storage().fill_(byte)
        return made

    with function_mode(call):
        yield


def _generator_on_host(real: Any) -> Any:
    """A class in place of torch.Generator, whose constructor no function mode sees.

    It is a class because torch's own modules, imported late, use torch.Generator in annotations and isinstance.
    """

    class Kind(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, real)

    def make(cls: Any, device: object = "cpu") -> Any:  # noqa: ARG001 - every device is the CPU here
        return real.__new__(cls, "cpu")

    return Kind("Generator", (real,), {"__new__": make})


def _on_host(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Replace the device "cuda" by "cpu" in a call."""
    torch = torch_module()
    if function is torch.Tensor.cuda:
        return args[0]
    if function is getattr(torch, "_scaled_mm", None) and is_block_scaled(args):
        return scaled_mm(*args, **kwargs)

    def is_gpu(value: object) -> bool:
        if isinstance(value, torch.device):
            return bool(value.type == "cuda")
        return isinstance(value, str) and value.partition(":")[0] == "cuda"

    args = tuple("cpu" if is_gpu(each) else each for each in args)
    return function(*args, **{name: "cpu" if is_gpu(value) else value for name, value in kwargs.items()})
