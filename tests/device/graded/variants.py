"""Honest submissions and attacks round one computation in torch: `make(name, compute)` gives the graded function."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import torch

Compute = Callable[..., Any]


def honest(compute: Compute) -> Compute:
    return compute


def joined(compute: Compute) -> Compute:
    """Works on a stream of its own, which waits for the caller's, and the caller's for it."""
    side = torch.cuda.Stream()

    def call(*arguments: Any) -> Any:
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            result = compute(*arguments)
        torch.cuda.current_stream().wait_stream(side)
        return result

    return call


def unjoined(compute: Compute) -> Compute:
    """Works on a stream without waiting for it."""
    side = torch.cuda.Stream()

    def call(*arguments: Any) -> Any:
        with torch.cuda.stream(side):
            return compute(*arguments)

    return call


def cached(compute: Compute) -> Compute:
    """Computes once for each set of pointers."""
    results: dict[Any, Any] = {}

    def call(*arguments: Any) -> Any:
        key = tuple(each.data_ptr() for each in flat(arguments))
        if key not in results:
            results[key] = compute(*arguments)
        return results[key]

    return call


def again(compute: Compute) -> Compute:
    """Records every event of the process again behind its work."""

    def call(*arguments: Any) -> Any:
        result = compute(*arguments)
        for each in gc.get_objects():
            if type(each) is torch.cuda.Event:
                each.record()
        return result

    return call


def patched(compute: Compute) -> Compute:
    """Replaces the method that asks for the time. A shorter one would make do_bench take a million samples."""
    torch.cuda.Event.elapsed_time = lambda *_: 0.1
    return compute


def late(compute: Compute) -> Compute:
    """Leaves the work to a thread, and gives an earlier result."""
    side = torch.cuda.Stream()
    results: list[Any] = []

    def work(arguments: Any) -> None:
        with torch.cuda.stream(side):
            results[:] = [compute(*arguments)]

    def call(*arguments: Any) -> Any:
        if not results:
            results[:] = [compute(*arguments)]
        else:
            threading.Timer(0.001, work, [arguments]).start()
        return results[0]

    return call


def flat(values: Any) -> list[Any]:
    """The tensors of nested tuples and lists."""
    if isinstance(values, torch.Tensor):
        return [values]
    return [each for value in values for each in flat(value)] if isinstance(values, tuple | list) else []


def make(name: str, compute: Compute) -> Compute:
    variants = (honest, joined, unjoined, cached, again, patched, late)
    return {each.__name__: each for each in variants}[name](compute)
