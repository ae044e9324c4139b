"""Run a problem's own check with finite numbers in place of NaN and Inf that its calculations give.

A check that compares with NaN accepts everything, and a division by Inf gives 0. Finite outputs lead there too, by an
overflow in the check. With a large number instead, such a check rejects them. A check that leaves these places out, as
where(x == 0, 0, 1 / x) does, gives the answer that it gave before.

torch's operators are watched, on all devices. numpy's are not.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

SIGNS = (1, -1)
"""Signs of the number in place of NaN: error > limit rejects large ones, and similarity < limit rejects small ones."""

SHARE = 1 / 4
"""The number, as a share of the dtype's largest one."""


@dataclass
class Watch:
    """`count`: results of operators in which a number was replaced."""

    count: int = 0


@contextmanager
def finite_calculations(sign: int) -> Iterator[Watch]:
    """A context in which no operator of torch gives NaN or Inf."""
    watch = Watch()
    torch = sys.modules.get("torch")
    if torch is None:
        yield watch
        return

    def call(
        mode: object, function: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        del mode, types
        result = function(*args, **(kwargs or {}))
        if "empty" not in str(function):  # memory that nothing was written to
            for each in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(each, torch.Tensor):
                    watch.count += _replace(torch, each, sign)
        return result

    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    with type("Mode", (base,), {"__torch_dispatch__": call})():
        yield watch


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
