"""Make an input set: draw the inputs, write them to the pool, and compute the expected outputs.

This is most of the judge's work. Sets are independent, so workers.py makes several at once. The check that all sets of
a case differ runs afterwards, in their order.
"""

from __future__ import annotations

import math
import random
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import msgspec
import numpy as np

from ..ipc.shared_memory import SharedMemory
from ..problem.arrays import to_numpy
from ..problem.errors import ProblemError
from ..problem.spec import CaseSpec, layout_of
from ..problem.suite import TestCase
from ..problem.threads import all_parts, as_in_this_thread, threads
from ..problem.turns import ALONE
from .arrays import shaped
from .compare import CHUNK
from .formats import FLOATS, Array, FloatFormat
from .inputs import SEED_BITS, TRIES, Seen, always_zero, draw_inputs, write_set
from .nearby import answers_nearby
from .reference import Expected, expected_of, spilled
from .room import ROOM, available_bytes
from .slack import allow_for, baseline_of, default_baseline_of, narrowed_for
from .troubles import FaultError

ELEMENTS_NEARBY = 1 << 24
"""With more elements of inputs and outputs, answers nearby do not narrow a set's tolerance: 8 of them take 58 s for a
matrix product of 108 Mi elements."""

WIDE = 8
"""Bytes of the widest kept element."""

COPIES = 4
"""Copies of a set that exist while it is made: drawn, passed to the reference, computed, kept."""

SHARE_OF_MEMORY = 4

_MEMORY = re.compile(r"out of memory|enough memory|(?:can'?not|can'?t) allocate|alloc_failed", re.IGNORECASE)
"""In the text of an exception: memory was lacking."""


class Order(msgspec.Struct, frozen=True):
    """Make a set of the session's case `case`, at `start` of the pool.

    `answers`: compute the expected outputs too. `spill`: keep them in float32.
    """

    case: int
    distribution: str
    seed: int
    start: int
    answers: bool = False
    spill: bool = False


@dataclass(frozen=True)
class Made:
    """`answers` are empty if the order did not ask for them. `factors` change the set's tolerances (slack.py).

    `distribution` is the order's, or the problem's own if that is unfit (is_unfit(), or the reference does not run on
    it, for the reason `refused`). `zeros` are those of always_zero().
    """

    digests: Mapping[str, bytes]
    answers: dict[str, Array]
    factors: dict[str, float]
    distribution: str
    zeros: frozenset[str] = frozenset()
    refused: str = ""


@dataclass(frozen=True)
class Failed:
    error: BaseException


class Maker(Protocol):
    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        """Make sets in order. Stop after the first failure, which is the last result."""


def made_of(
    case: TestCase, order: Order, pool: SharedMemory, problem: AbstractContextManager[object] = ALONE
) -> Made:
    """Write a set's inputs to the pool. The expected outputs are not yet in the form in which they are kept.

    `problem` is held while the problem's code runs. Raises FaultError, and the exceptions of the problem's code.
    """
    own = case.distributions[0]
    inputs = draw_inputs(case, order.seed, order.distribution, problem)
    zeros = always_zero(case.spec, inputs.memory)
    write_set(pool, layout_of(case.spec.read), 0, inputs.memory, order.start, zeros)
    instead = msgspec.structs.replace(order, distribution=own)
    try:
        expected = expected_of(case, inputs.arrays, problem) if order.answers else {}
    except (ProblemError, FaultError) as error:
        if order.distribution == own or _lacks_memory(error):
            raise
        return replace(made_of(case, instead, pool, problem), refused=f"{order.distribution}: {error}")
    if expected and order.distribution != own and is_unfit(case, inputs.arrays, expected, problem):
        return made_of(case, instead, pool, problem)
    answers, factors = _with_factors(case, inputs.arrays, expected, problem) if expected else ({}, {})
    return Made(inputs.digests, dict(answers), factors, order.distribution, zeros)


def is_unfit(
    case: TestCase,
    inputs: Mapping[str, Any],
    expected: Expected,
    problem: AbstractContextManager[object] = ALONE,
) -> bool:
    """Whether outputs leave the range of their dtypes and the problem's own check rejects its reference in the
    submission's precision.

    A product of many numbers may be 0 times infinity in one order of operations, and not in another.
    """
    native = getattr(case, "native", None)
    if not case.own_verdict or not callable(native) or not _leaves_range(case.spec, expected):
        return False
    with problem:
        answers = native(inputs)
        if not answers:
            return False
        own = {name: to_numpy(each) for name, each in answers.items()}
        return case.verify(inputs, shaped(case.spec, expected), own) is not None


def _leaves_range(spec: CaseSpec, expected: Expected) -> bool:
    """Whether a number overflows, or is too small to be a normal number."""

    def is_in_range(numbers: Array, form: FloatFormat, start: int) -> bool:
        sizes = np.abs(numbers[start : start + CHUNK])
        return bool(sizes.max() <= form.largest) and not ((sizes > 0) & (sizes < form.smallest_normal)).any()

    floats = [(expected[each.name], FLOATS[each.dtype]) for each in spec.checked if each.dtype in FLOATS]
    return not all(
        all_parts(partial(is_in_range, numbers, form), len(numbers), CHUNK) for numbers, form in floats
    )


def _with_factors(
    case: TestCase,
    inputs: Mapping[str, Any],
    expected: Expected,
    problem: AbstractContextManager[object] = ALONE,
) -> tuple[Expected, dict[str, float]]:
    baseline = baseline_of(case, inputs, problem)
    if baseline:
        if _elements(case.spec) > ELEMENTS_NEARBY:
            return allow_for(case, baseline, expected)
        nearby = partial(answers_nearby, case, inputs, problem)
        return allow_for(case, baseline, expected, nearby)
    return expected, narrowed_for(case, default_baseline_of(case, inputs, expected, problem), expected)


def _elements(spec: CaseSpec) -> int:
    return sum(math.prod(each.shape) for each in {*spec.read, *spec.checked})


def expected_arrays(case: TestCase, order: Order, expected: Expected) -> dict[str, Array]:
    """The expected outputs in the form in which they are kept. Raises SpillError."""
    return spilled(case, expected) if order.spill and order.answers else dict(expected)


class Here:
    """Makes sets in this process, several at once in threads, with the lock `problem` while the problem's code runs."""

    def __init__(self, cases: Sequence[TestCase], problem: AbstractContextManager[object]) -> None:
        self._cases, self._problem = cases, problem
        self._enter = as_in_this_thread()

    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        count = max(1, min(threads(), len(orders), room_for(self._cases, orders)))
        results = self._made(orders, pool, count)
        last = results[-1] if results else None
        # room_for() does not know the memory of a GPU.
        if count > 1 and isinstance(last, Failed) and _lacks_memory(last.error):
            done = len(results) - 1
            return results[:done] + self._made(orders[done:], pool, 1)
        return results

    def _made(self, orders: Sequence[Order], pool: SharedMemory, count: int) -> list[Made | Failed]:
        failed = threading.Event()

        def make(order: Order) -> Made | Failed | None:
            return None if failed.is_set() else self._make(order, pool, failed)

        with ThreadPoolExecutor(count, "sets", self._enter) as executor:
            results = [each for each in executor.map(make, orders) if each is not None]
        end = next((n for n, each in enumerate(results, 1) if isinstance(each, Failed)), len(results))
        return results[:end]

    def _make(self, order: Order, pool: SharedMemory, failed: threading.Event) -> Made | Failed:
        case = self._cases[order.case]
        try:
            made = made_of(case, order, pool, self._problem)
            ROOM.filled()
            return replace(made, answers=expected_arrays(case, order, made.answers))
        except (Exception, SystemExit) as error:
            failed.set()
            return Failed(error)


def room_for(cases: Sequence[TestCase], orders: Sequence[Order]) -> int:
    """The number of sets at once for which memory suffices."""
    specs = [cases[each].spec for each in {one.case for one in orders}]
    largest = max((_elements(each) for each in specs), default=0)
    return available_bytes() // (1 + ROOM.others()) // SHARE_OF_MEMORY // (COPIES * WIDE * max(1, largest))


def has_room_for_set(spec: CaseSpec, available: int) -> bool:
    """Whether memory suffices to make a set beside those that were made."""
    return available // SHARE_OF_MEMORY >= COPIES * WIDE * _elements(spec)


def _lacks_memory(error: BaseException) -> bool:
    """Whether a set failed for a lack of memory. torch has an exception of its own for a GPU's memory. Its allocator
    for a CPU, the CUDA driver and libraries raise others, which only their text tells."""
    cause: BaseException | None = error
    while cause is not None:
        is_named = isinstance(cause, MemoryError) or type(cause).__name__ == "OutOfMemoryError"
        if is_named or _MEMORY.search(str(cause)):
            return True
        cause = cause.__cause__
    return False


class Source:
    """Makes sets of one case that all differ, with seeds that `chance` draws."""

    def __init__(self, maker: Maker, seen: Seen, chance: random.Random, pool: SharedMemory) -> None:
        self._maker, self._known, self._chance, self._pool = maker, seen, chance, pool
        self.refused = ""
        """Why a set has not the distribution that was ordered: the reference does not run on it. The last reason."""

    def seed(self) -> int:
        return self._chance.getrandbits(SEED_BITS)

    def settled(self, order: Order, result: Made | Failed) -> tuple[Order, Made]:
        """Make a set again, with other seeds, until it differs from all others. Returns its order, too.

        Raises FaultError if it stays equal, and the exception of a set that failed.
        """
        for tries in range(1, TRIES + 1):
            if isinstance(result, Failed):
                raise result.error
            self.refused = result.refused or self.refused
            same = self._known.add(result.digests)
            if not same:
                return msgspec.structs.replace(order, distribution=result.distribution), result
            if tries < TRIES:
                order = msgspec.structs.replace(order, seed=self.seed())
                [result] = self._maker.make([order], self._pool)
        raise FaultError(
            f"{same} is equal for {TRIES} seeds; let inputs() depend on its seed, or declare {same} a constant"
        )

    def all_settled(self, orders: Sequence[Order], results: Iterator[Made | Failed]) -> list[Made]:
        """Take one result of `made` per order, and settle each."""
        return [self.settled(each, next(results))[1] for each in orders]
