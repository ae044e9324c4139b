"""Arrays on the GPU on which a problem's own check computes.

The check is asked up to five times about outputs that are not near the expected ones (blind_check.py), each time with
its inputs and with changed outputs. To change 3 GiB on the host and to copy both took 5 s for each set (GPU MODE's
trimul on an H200), so they are copied once, and changed there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..problem.arrays import to_torch
from ..problem.spec import Buffer, DType
from .arrays import as_numbers
from .formats import Array

FLOATS_OF_TORCH: frozenset[DType] = frozenset({"float64", "float32", "float16", "bfloat16"})

CHANGED = 4
"""Arrays of an output's size that exist at once: given, right, changed, and masks."""

ROOM = 3
"""Times what is kept on the device has to be free, because the check itself needs room, too."""

Look = Callable[[Mapping[str, Array], Mapping[str, Array], Mapping[str, Array]], str | None]
"""Called with inputs, outputs and right outputs. Outputs are flat. Its answer is None if nothing is wrong."""


class Device:
    """The device on which a check computes: `name` is torch's. One thread at a time keeps arrays there."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()

    def finds_nothing(
        self,
        look: Look,
        inputs: Mapping[str, Array],
        outputs: tuple[Sequence[Buffer], Mapping[str, Array]],
        right: tuple[Sequence[Buffer], Mapping[str, Array]],
    ) -> bool:
        """Whether `look` finds nothing wrong with arrays on the device. False if it could not look there, too: a check
        that lacks memory rejects everything, so what it finds has to be found on the host."""
        kinds = {each.dtype for each in (*outputs[0], *right[0])}
        size = sum(each.nbytes for each in inputs.values())
        size += CHANGED * sum(each.nbytes for each in right[1].values())
        if self._name == "cpu" or not kinds <= FLOATS_OF_TORCH:
            return False
        with self._lock:
            if _free_bytes() < ROOM * size:
                return False
            with _without_memory_errors():
                placed = {name: to_torch(each, self._name) for name, each in inputs.items()}
                return look(placed, self._placed(*outputs), self._placed(*right)) is None
        return False

    def _placed(self, buffers: Sequence[Buffer], arrays: Mapping[str, Array]) -> dict[str, Array]:
        placed = {}
        for each in buffers:
            placed[each.name] = to_torch(as_numbers(each, arrays[each.name]), self._name).reshape(-1)
        return placed


def _free_bytes() -> int:
    """Free memory of the device, with the memory that torch keeps for this process."""
    cuda: Any = sys.modules["torch"].cuda
    free, _ = cuda.mem_get_info()
    return int(free + cuda.memory_reserved() - cuda.memory_allocated())


@contextmanager
def _without_memory_errors() -> Iterator[None]:
    try:
        yield
    except sys.modules["torch"].OutOfMemoryError:
        return
