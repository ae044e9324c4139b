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

from ..ipc.shared_memory import Bytes, SharedMemory
from ..problem.spec import Buffer, CaseSpec, Layout
from ..problem.suite import TestCase
from .arrays import memory_of
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
    """`arrays` are the problem's own, `memory` what is in a set, `digests` that memory's."""

    arrays: Mapping[str, Any]
    memory: Mapping[str, Bytes]
    digests: Mapping[str, bytes]


def drawn(case: TestCase, seed: int, distribution: str) -> Drawn:
    """Raises FaultError for arrays that are not what the specification says."""
    arrays = case.inputs(seed, distribution)
    wanted = [buffer.name for buffer in case.spec.read]
    if set(arrays) != set(wanted):
        raise FaultError(f"inputs() gives {_names(arrays)}; the case reads {_names(wanted)}")
    memory = {buffer.name: memory_of(buffer, arrays[buffer.name]) for buffer in case.spec.read}
    digests = {name: hashlib.sha256(each.data).digest() for name, each in memory.items()}
    return Drawn(arrays, memory, digests)


class Seen:
    """What was drawn of one case so far, by digest."""

    def __init__(self, spec: CaseSpec) -> None:
        self._read = spec.read
        self._seen: dict[str, set[bytes]] = {buffer.name: set() for buffer in self._read}

    def add(self, digests: Mapping[str, bytes]) -> str:
        """Empty if the set is unlike all others, else what is the same, and it is not added. Raises FaultError for
        constants that change."""
        for buffer in self._read:
            if self._is_known(buffer, digests[buffer.name]):
                return buffer.name
        for name, digest in digests.items():
            self._seen[name].add(digest)
        return ""

    def _is_known(self, buffer: Buffer, digest: bytes) -> bool:
        seen = self._seen[buffer.name]
        if buffer.role == "constant":
            if seen and digest not in seen:
                raise FaultError(f"{buffer.name} is a constant, and yet it differs between two seeds")
            return False
        return buffer.bytes > BYTES_FEW and digest in seen


def write_set(
    shared: SharedMemory, layout: Layout, number: int, memory: Mapping[str, Bytes], start: int = 0
) -> None:
    """Set `number` of those that begin at `start`."""
    for name, data in memory.items():
        shared.write(data, start + layout.place(name, number)[0])


def _names(names: Any) -> str:
    return ", ".join(sorted(map(str, names))) or "nothing"
