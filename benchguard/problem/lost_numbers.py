"""Run a problem's own check with finite numbers in place of NaN and Inf that its calculations give.

A check that compares with NaN accepts everything, and a division by Inf gives 0. Finite outputs lead there too, by an
overflow in the check. With a large number instead, such a check rejects them. A check that leaves these places out, as
where(x == 0, 0, 1 / x) does, gives the answer that it gave before.

torch's operators are watched on all devices, and numpy's on arrays from watched(), until np.asarray makes another array
of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dispatch import dispatch_mode

SIGNS = (1, -1)
"""Signs of the number in place of NaN: error > limit rejects large ones, and similarity < limit rejects small ones."""

SHARE = 1 / 4
"""The number, as a share of the dtype's largest one."""


@dataclass
class Watch:
    """`count`: results of operators in which a number was replaced."""

    sign: int
    count: int = 0


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def finite_calculations(sign: int) -> Iterator[Watch]:
    """A context in which no operator of torch or on watched arrays gives NaN or Inf."""
    watch = Watch(sign)
    token = _watch.set(watch)
    try:
        with _torch_mode(watch) if "torch" in sys.modules else nullcontext():
            yield watch
    finally:
        _watch.reset(token)


class Watched(np.ndarray[Any, Any]):
    """An array whose functions and operators give neither NaN nor Inf."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _finite(getattr(ufunc, method)(*_plain(inputs), **_plain(keywords)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        return _finite(function(*_plain(args), **_plain(kwargs)))


def watched(array: Any) -> Any:
    """The array; within finite_calculations() a view of it whose operators give neither NaN nor Inf."""
    return array if _watch.get() is None else array.view(Watched)


def _plain(value: Any) -> Any:
    if isinstance(value, Watched):
        return value.view(np.ndarray)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (tuple, list) else value


def _finite(result: Any) -> Any:
    """The result of a function of numpy, watched if it has floats."""
    if type(result) in (tuple, list):
        return type(result)(map(_finite, result))
    watch = _watch.get()
    if watch is None or not isinstance(result, (np.ndarray, np.floating)) or result.dtype.kind != "f":
        return result
    numbers = np.asarray(result)
    if not np.isfinite(numbers).all():
        watch.count += 1
        large = np.finfo(numbers.dtype).max * numbers.dtype.type(SHARE)
        numbers = np.nan_to_num(
            numbers, copy=not numbers.flags.writeable, nan=watch.sign * large, posinf=large, neginf=-large
        )
    return numbers.view(Watched)


def _torch_mode(watch: Watch) -> Any:
    torch = sys.modules["torch"]

    def call(
        mode: object, function: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        del mode, types
        result = function(*args, **(kwargs or {}))
        if "empty" not in str(function):  # memory that nothing was written to
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(each, torch.Tensor):
                    watch.count += _replace(torch, each, watch.sign)
        return result

    return type("Watching", (dispatch_mode(),), {"__torch_dispatch__": call})()


def _replace(torch: Any, tensor: Any, sign: int) -> bool:
    """Replace NaN and Inf in a tensor, and return whether there were any."""
    if tensor.is_meta or not tensor.is_floating_point() or tensor.element_size() == 1:
        return False
    if bool(torch.isfinite(tensor).all()):
        return False
    large = torch.finfo(tensor.dtype).max * SHARE
    try:
        tensor.nan_to_num_(sign * large, large, -large)
    except RuntimeError:  # elements that share memory: a view, whose numbers were replaced before
        return False
    return True
