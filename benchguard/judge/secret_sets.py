"""The secret input sets of a case in memory, with their distributions and expected outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..ipc.shared_memory import Bytes, SharedMemory
from ..ipc.slots import SlotPlan
from ..problem.spec import Layout
from ..problem.suite import TestCase
from .arrays import as_numbers, elements_of, flat_copy
from .formats import Array
from .making import Source
from .streaming import Supply


@dataclass
class SecretSets:
    """Lists have one item for each set. `layout` is that of the inputs in the pool."""

    case: TestCase
    layout: Layout
    plan: SlotPlan
    distributions: tuple[str, ...]
    pool: SharedMemory
    memory: Bytes
    """A view of the pool."""
    expected: list[dict[str, Array]]
    """Expected outputs; empty for sets that are streamed."""
    factors: list[dict[str, float]]
    """By buffer, how much wider the set's tolerances are (slack.py)."""
    supply: Supply | None = None
    """Makes the one-use sets that are streamed."""
    zeros: frozenset[str] = frozenset()
    """Inputs that are zeros in all sets."""
    source: Source | None = None
    """Made the sets, and makes those that are streamed."""

    def is_own(self, number: int) -> bool:
        """Whether a set has the problem's own distribution."""
        return self.distributions[number] == self.case.distributions[0]

    @property
    def refused(self) -> str:
        """Why sets have the problem's own distribution instead of another one; empty if none has."""
        return self.source.refused if self.source is not None else ""

    def own_in_memory(self) -> list[int]:
        """The sets of the problem's own distribution that stay in memory."""
        return [
            number
            for number in range(self.plan.sets)
            if self.is_own(number) and not self.plan.is_streamed(number)
        ]

    def memory_of(self, number: int, name: str) -> Bytes:
        """A view of an input's bytes. Streamed sets share their memory."""
        offset, size = self.layout.place(name, self.plan.place_of(number))
        return self.memory[offset : offset + size]

    def arrays_of(self, number: int) -> Mapping[str, Array]:
        """The inputs of a set as the replay gets them. The reference may have changed its own copy.

        Inputs of a streamed set are copied when they are asked for, because their memory is not sealed. Asking raises
        FaultError if the replay changed them.
        """
        if self.supply is not None:
            return _Copies(self, number)
        return {
            each.name: as_numbers(each, elements_of(each, self.memory_of(number, each.name)))
            for each in self.case.spec.read
        }

    def check_unchanged(self, number: int) -> None:
        """Raises FaultError if the replay changed the inputs of a streamed set."""
        if self.supply is not None:
            for buffer in self.case.spec.read:
                self.supply.check(number, buffer.name, self.memory_of(number, buffer.name))

    def copy_of(self, number: int, name: str) -> Array:
        """A copy of an input of a set. Raises FaultError if the replay changed it."""
        assert self.supply is not None
        memory = flat_copy(self.memory_of(number, name))
        self.supply.check(number, name, memory)
        buffer = next(each for each in self.case.spec.read if each.name == name)
        return as_numbers(buffer, elements_of(buffer, memory))

    def free(self) -> None:
        """Free the memory now. OwnCheck and its Rounding refer to each other and to the sets, so only the garbage
        collector would free them."""
        self.pool.close()
        self.memory = np.empty(0, np.uint8)
        self.expected.clear()


class _Copies(Mapping[str, Array]):
    """The inputs of a set, which are copied when they are asked for: Tensara's verify_result needs none."""

    def __init__(self, sets: SecretSets, number: int) -> None:
        self._sets, self._number = sets, number
        self._copies: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._copies:
            if name not in iter(self):
                raise KeyError(name)
            self._copies[name] = self._sets.copy_of(self._number, name)
        return self._copies[name]

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self._sets.case.spec.read)

    def __len__(self) -> int:
        return len(self._sets.case.spec.read)
