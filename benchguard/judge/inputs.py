"""Input sets that no submission has seen: drawn, checked, and written where a replay can read them.

Within a case no two sets, throw-away ones included, may be the same in any buffer of more than BYTES_FEW bytes that
is not a constant: who has seen one would know an answer. What comes out the same is drawn again with another seed.
Constants are the problem's word that a buffer never changes, so they must not.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..problem.spec import Buffer, Layout
from ..problem.suite import TestCase
from .arrays import memory_of
from .shared import Bytes, Shared
from .troubles import FaultError

BYTES_FEW = 64
"""Buffers of up to so many bytes (flags, lengths) may be the same twice by chance."""

TRIES = 16
SEED_BITS = 63


def chance_for(seed: int | None, purpose: str) -> random.Random:
    """What seeds and orders are drawn from: the OS, or for a test what follows from `seed`."""
    return random.SystemRandom() if seed is None else random.Random(f"{seed} {purpose}")


@dataclass(frozen=True)
class Drawn:
    """`arrays` are the problem's own, `memory` what is in a set."""

    arrays: Mapping[str, Any]
    memory: Mapping[str, Bytes]


class Inputs:
    """Of one case; it remembers what was drawn, by hash."""

    def __init__(self, case: TestCase) -> None:
        self._case = case
        self._read = case.spec.read
        self._seen: dict[str, set[bytes]] = {buffer.name: set() for buffer in self._read}

    def draw(self, distribution: str, chance: random.Random) -> Drawn:
        """A set unlike all others. Raises FaultError for arrays that are not what the specification says, for
        constants that change, and for inputs that do not."""
        same = ""
        for _ in range(TRIES):
            arrays = self._case.inputs(chance.getrandbits(SEED_BITS), distribution)
            memory = self._memory(arrays)
            digests = {name: hashlib.sha256(each.data).digest() for name, each in memory.items()}
            same = next((each.name for each in self._read if self._is_known(each, digests[each.name])), "")
            if not same:
                for name, digest in digests.items():
                    self._seen[name].add(digest)
                return Drawn(arrays, memory)
        raise FaultError(
            f"{same} is the same for {TRIES} seeds; let inputs() depend on its seed, or call {same} a constant"
        )

    def _memory(self, arrays: Mapping[str, Any]) -> dict[str, Bytes]:
        wanted = [buffer.name for buffer in self._read]
        if set(arrays) != set(wanted):
            raise FaultError(f"inputs() gives {_names(arrays)}; the case reads {_names(wanted)}")
        return {buffer.name: memory_of(buffer, arrays[buffer.name]) for buffer in self._read}

    def _is_known(self, buffer: Buffer, digest: bytes) -> bool:
        seen = self._seen[buffer.name]
        if buffer.role == "constant":
            if seen and digest not in seen:
                raise FaultError(f"{buffer.name} is a constant, and yet it differs between two seeds")
            return False
        return buffer.bytes > BYTES_FEW and digest in seen


def write_set(
    shared: Shared, layout: Layout, number: int, memory: Mapping[str, Bytes], start: int = 0
) -> None:
    """Set `number` of those that begin at `start`."""
    for name, data in memory.items():
        shared.write(data, start + layout.place(name, number)[0])


def _names(names: Any) -> str:
    return ", ".join(sorted(map(str, names))) or "nothing"
