"""Run tasks written for a GPU, torch.rand(..., device="cuda"), on the CPU if the judge has no GPU.

The CPU's generator gives other numbers than a GPU's. That is harmless: seeds are secret, and the reference is computed
from the same numbers that the submission gets.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import UsageError


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
    with torch.no_grad():
        if device != "cpu":
            yield
            return
        generator, synchronize = torch.Generator, torch.cuda.synchronize
        torch.Generator = lambda device="cpu": generator("cpu")  # noqa: ARG005 - a class, which no mode sees
        torch.cuda.synchronize = lambda device=None: None  # noqa: ARG005
        try:
            with _on_host(torch):
                yield
        finally:
            torch.Generator, torch.cuda.synchronize = generator, synchronize


def _on_host(torch: Any) -> Any:
    """A torch function mode that replaces the device "cuda" by "cpu" in all calls."""

    def is_gpu(value: object) -> bool:
        if isinstance(value, torch.device):
            return bool(value.type == "cuda")
        return isinstance(value, str) and value.partition(":")[0] == "cuda"

    def call(
        mode: object, function: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        del mode, types
        if function is torch.Tensor.cuda:
            return args[0]
        args = tuple("cpu" if is_gpu(each) else each for each in args)
        kwargs = {name: "cpu" if is_gpu(value) else value for name, value in (kwargs or {}).items()}
        return function(*args, **kwargs)

    mode = importlib.import_module("torch.overrides").TorchFunctionMode
    return type("OnHost", (mode,), {"__torch_function__": call})()
