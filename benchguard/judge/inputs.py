"""Draw secret input sets, check that they differ, and write them to memory that the replay reads.

All sets of a case, with the throw-away ones, must differ in each buffer of more than BYTES_FEW bytes: a submission
that knows one set must not know another set's answer. Equal sets are drawn again with another seed. Constants must be
equal in all sets.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..ipc.shared_memory import Bytes, SharedMemory
from ..problem.spec import Buffer, CaseSpec, Layout
from ..problem.suite import TestCase
from ..problem.threads import in_parts, threads
from ..problem.turns import ALONE
from .arrays import memory_of
from .troubles import FaultError

BYTES_FEW = 64
"""Buffers of up to this many bytes (flags, lengths) may be equal by chance."""

PART = 32 << 20
"""Bytes that a thread writes or hashes at once."""

MAPPED_THREADS = 4
MAPPED_BYTES = 1 << 30
"""Threads and bytes from which a buffer is written through a mapping. The kernel lets one thread at a time write() to a
file. 16 threads wrote 4 GB/s to new pages through a mapping and 2 GB/s without, and 10 and 4 GB/s to old pages
(docs/adr/0056). Mapping smaller buffers, of which several sets are made at once, gains nothing."""

TRIES = 16
SEED_BITS = 63


def chance_for(seed: int | None, purpose: str) -> random.Random:
    """The source of seeds and orders: the operating system's, or for tests one seeded with `seed`."""
    return random.SystemRandom() if seed is None else random.Random(f"{seed} {purpose}")


@dataclass(frozen=True)
class Drawn:
    """`arrays` are the problem's, `memory` the bytes of the set, `digests` those of the memory."""

    arrays: Mapping[str, Any]
    memory: Mapping[str, Bytes]
    digests: Mapping[str, bytes]


def draw_inputs(
    case: TestCase, seed: int, distribution: str, problem: AbstractContextManager[object] = ALONE
) -> Drawn:
    """`problem` is held while the problem's code runs.

    Raises FaultError for arrays that differ from the specification.
    """
    with problem:
        arrays = case.inputs(seed, distribution)
    names = [buffer.name for buffer in case.spec.read]
    if set(arrays) != set(names):
        raise FaultError(f"inputs() gives {_names(arrays)}; the case reads {_names(names)}")
    memory = {buffer.name: memory_of(buffer, arrays[buffer.name]) for buffer in case.spec.read}
    digests = {name: digest_of(each) for name, each in memory.items()}
    return Drawn(arrays, memory, digests)


def digest_of(memory: Bytes) -> bytes:
    """The SHA-256 of the digests of parts, which are computed at once."""
    with ThreadPoolExecutor(threads()) as pool:
        starts = range(0, memory.nbytes, PART)
        digests = pool.map(lambda at: hashlib.sha256(memory[at : at + PART].data).digest(), starts)
        return hashlib.sha256(b"".join(digests)).digest()


class Seen:
    """Digests of the sets that were drawn for one case."""

    def __init__(self, spec: CaseSpec) -> None:
        self._read = spec.read
        self._unseeded = set(spec.unseeded)
        self._digests: dict[str, set[bytes]] = {buffer.name: set() for buffer in self._read}

    def add(self, digests: Mapping[str, bytes]) -> str:
        """Add a set that differs from all others and return ""; otherwise return the name of an equal buffer.

        Raises FaultError for constants that change.
        """
        for buffer in self._read:
            if self._is_known(buffer, digests[buffer.name]):
                return buffer.name
        for name, digest in digests.items():
            self._digests[name].add(digest)
        return ""

    def _is_known(self, buffer: Buffer, digest: bytes) -> bool:
        digests = self._digests[buffer.name]
        if buffer.role == "constant":
            if digests and digest not in digests:
                raise FaultError(f"{buffer.name} is a constant but differs between two seeds")
            return False
        return buffer.bytes > BYTES_FEW and buffer.name not in self._unseeded and digest in digests


def always_zero(spec: CaseSpec, memory: Mapping[str, Bytes]) -> frozenset[str]:
    """The inputs that are zeros in this set, and so in all sets: their content does not depend on the seed."""
    return frozenset(name for name in spec.unseeded if name in memory and not memory[name].any())


def write_set(
    shared: SharedMemory,
    layout: Layout,
    number: int,
    memory: Mapping[str, Bytes],
    start: int = 0,
    zeros: frozenset[str] = frozenset(),
) -> None:
    """Write set `number`, but for `zeros`, which new memory has already. Set 0 begins at `start`.

    The kernel clears new pages, so threads share the work.
    """
    for name, data in memory.items():
        if name in zeros:
            continue
        offset = start + layout.place(name, number)[0]
        if threads() >= MAPPED_THREADS and data.nbytes >= MAPPED_BYTES:
            in_parts(partial(_copy_part, shared.writable(offset, data.nbytes), data), data.nbytes, PART)
        else:
            in_parts(partial(_write_part, shared, data, offset), data.nbytes, PART)


def _write_part(shared: SharedMemory, data: Bytes, offset: int, at: int) -> None:
    shared.write(data[at : at + PART], offset + at)


def _copy_part(to: Bytes, data: Bytes, at: int) -> None:
    np.copyto(to[at : at + PART], data[at : at + PART])


def _names(names: Any) -> str:
    return ", ".join(sorted(map(str, names))) or "nothing"
