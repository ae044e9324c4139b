"""Run problems whose code says "cuda" on the CPU, if references are computed there."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FOR_GPU = "_neutrino_for_gpu"
"""Attribute of a tensor on the CPU that code has asked for on a GPU."""


def lies_on_host(array: Any) -> bool:
    """Whether the code that made this array wants it in host memory: a tensor of torch on the CPU."""
    return hasattr(array, "is_cuda") and not array.is_cuda and not hasattr(array, FOR_GPU)


@contextmanager
def on_cpu() -> Iterator[None]:
    """A context in which torch makes tensors on the CPU if code asks for a GPU. torch must have been imported."""
    torch: Any = sys.modules["torch"]
    overrides = __import__("torch.overrides", fromlist=["TorchFunctionMode"])

    def moved(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        return "cpu" if isinstance(value, str) and value.split(":")[0] == "cuda" else value

    class OnCpu(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if func is torch.Tensor.cuda:
                made, for_gpu = args[0], True
            else:
                made = func(*map(moved, args), **{key: moved(value) for key, value in named.items()})
                given = [*args, *named.values()]
                for_gpu = any(moved(each) is not each or hasattr(each, FOR_GPU) for each in given)
            if for_gpu and isinstance(made, torch.Tensor):
                setattr(made, FOR_GPU, True)
            return made

    generator = torch.Generator
    torch.Generator = lambda device="cpu": generator(moved(device))  # a class of C, which no mode sees
    try:
        with warnings.catch_warnings(), OnCpu():
            warnings.filterwarnings(
                "ignore", message=".*CUDA is not available"
            )  # of autocast("cuda", enabled=False)
            yield
    finally:
        torch.Generator = generator
