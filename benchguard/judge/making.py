"""Making a set: its inputs are drawn and written to memory that a replay reads, and what is right for them is kept.

It is the most of a judge's work, and no set needs another, so workers.py has several made at once. What has to do
with all sets of a case, that no two are the same, is asked afterwards and in their order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import msgspec

from ..ipc.shared_memory import SharedMemory
from ..problem.spec import layout_of
from ..problem.suite import TestCase
from .formats import Array
from .inputs import SEED_BITS, TRIES, Seen, drawn, write_set
from .reference import Expected, expected_of, spilled
from .troubles import FaultError


class Order(msgspec.Struct, frozen=True):
    """A set of the session's case `case`, in the pool from `start` on. `answers`: what is right is wanted, too;
    `spill`: in float32."""

    case: int
    distribution: str
    seed: int
    start: int
    answers: bool = False
    spill: bool = False


@dataclass(frozen=True)
class Made:
    """`answers` are empty where they were not wanted."""

    digests: Mapping[str, bytes]
    answers: dict[str, Array]


@dataclass(frozen=True)
class Failed:
    error: BaseException


class Maker(Protocol):
    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        """In the orders' order, up to the first that failed, and that one."""


def inputs_of(case: TestCase, order: Order, pool: SharedMemory) -> tuple[Mapping[str, bytes], Expected]:
    """The digests of what is in the pool then, and what is right for it. Raises what the problem's code raises, and
    FaultError."""
    found = drawn(case, order.seed, order.distribution)
    write_set(pool, layout_of(case.spec.read), 0, found.memory, order.start)
    return found.digests, expected_of(case, found.arrays) if order.answers else {}


def kept(case: TestCase, order: Order, expected: Expected) -> dict[str, Array]:
    """Raises SpillError."""
    return spilled(case, expected) if order.spill and order.answers else dict(expected)


class Here:
    """Makes sets in this process, one after the other: `problem` is held for each. A set is narrowed by `workers`
    while the next one is drawn."""

    def __init__(
        self, cases: Sequence[TestCase], problem: AbstractContextManager[object], workers: Executor
    ) -> None:
        self._cases, self._problem, self._workers = cases, problem, workers

    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        pending = []
        failed: list[Made | Failed] = []
        for order in orders:
            case = self._cases[order.case]
            try:
                with self._problem:
                    digests, expected = inputs_of(case, order, pool)
            except (Exception, SystemExit) as error:
                failed = [Failed(error)]
                break
            pending.append((digests, self._workers.submit(kept, case, order, expected)))
        found: list[Made | Failed] = []
        for digests, answers in pending:
            try:
                found.append(Made(digests, answers.result()))
            except Exception as error:
                return [*found, Failed(error)]
        return found + failed


class Source:
    """Sets of one case that are unlike each other, from seeds that `chance` draws."""

    def __init__(self, maker: Maker, seen: Seen, chance: random.Random, pool: SharedMemory) -> None:
        self._maker, self._seen, self._chance, self._pool = maker, seen, chance, pool

    def seed(self) -> int:
        return self._chance.getrandbits(SEED_BITS)

    def settled(self, order: Order, made: Made | Failed) -> Made:
        """Made again, with other seeds, while it is like another. Raises FaultError if it stays so, and what making
        it raised."""
        for tries in range(1, TRIES + 1):
            if isinstance(made, Failed):
                raise made.error
            same = self._seen.add(made.digests)
            if not same:
                return made
            if tries < TRIES:
                [made] = self._maker.make([msgspec.structs.replace(order, seed=self.seed())], self._pool)
        raise FaultError(
            f"{same} is the same for {TRIES} seeds; let inputs() depend on its seed, or call {same} a constant"
        )

    def all_settled(self, orders: Sequence[Order], made: Iterator[Made | Failed]) -> list[Made]:
        """Takes as many of `made` as there are orders."""
        return [self.settled(each, next(made)) for each in orders]
