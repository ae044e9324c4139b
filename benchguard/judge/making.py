"""Make an input set: draw the inputs, write them to the pool, and compute the expected outputs.

This is most of the judge's work. Sets are independent, so workers.py makes several at once. The check that all sets of
a case differ runs afterwards, in their order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import msgspec
import numpy as np

from ..ipc.shared_memory import SharedMemory
from ..problem.arrays import to_numpy
from ..problem.spec import CaseSpec, layout_of
from ..problem.suite import TestCase
from .arrays import shaped
from .formats import FLOATS, Array
from .inputs import SEED_BITS, TRIES, Seen, draw_inputs, write_set
from .nearby import answers_nearby
from .reference import Expected, expected_of, spilled
from .slack import allow_for, baseline_of, default_baseline_of, narrowed_for
from .troubles import FaultError

ELEMENTS_NEARBY = 1 << 24
"""With more elements of inputs and outputs, answers nearby do not narrow a set's tolerance: 8 of them take 58 s for a
matrix product of 108 Mi elements."""


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

    `distribution` is the order's, or the problem's own if the order's is unfit.
    """

    digests: Mapping[str, bytes]
    answers: dict[str, Array]
    factors: dict[str, float]
    distribution: str


@dataclass(frozen=True)
class Failed:
    error: BaseException


class Maker(Protocol):
    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        """Make sets in order. Stop after the first failure, which is the last result."""


def made_of(case: TestCase, order: Order, pool: SharedMemory) -> Made:
    """Write a set's inputs to the pool. The expected outputs are not yet in the form in which they are kept.

    Raises FaultError, and the exceptions of the problem's code.
    """
    own = case.distributions[0]
    inputs = draw_inputs(case, order.seed, order.distribution)
    write_set(pool, layout_of(case.spec.read), 0, inputs.memory, order.start)
    expected = expected_of(case, inputs.arrays) if order.answers else {}
    if expected and order.distribution != own and is_unfit(case, inputs.arrays, expected):
        return made_of(case, msgspec.structs.replace(order, distribution=own), pool)
    answers, factors = _with_factors(case, inputs.arrays, expected) if expected else ({}, {})
    return Made(inputs.digests, dict(answers), factors, order.distribution)


def is_unfit(case: TestCase, inputs: Mapping[str, Any], expected: Expected) -> bool:
    """Whether outputs leave the range of their dtypes and the problem's own check rejects its reference in the
    submission's precision.

    A product of many numbers may be 0 times infinity in one order of operations, and not in another.
    """
    native = getattr(case, "native", None)
    if not case.own_verdict or not callable(native) or not _leaves_range(case.spec, expected):
        return False
    answers = native(inputs)
    if not answers:
        return False
    own = {name: to_numpy(each) for name, each in answers.items()}
    return case.verify(inputs, shaped(case.spec, expected), own) is not None


def _leaves_range(spec: CaseSpec, expected: Expected) -> bool:
    """Whether a number overflows, or is too small to be a normal number."""
    floats = [
        (np.abs(expected[each.name]), FLOATS[each.dtype]) for each in spec.checked if each.dtype in FLOATS
    ]
    return any(
        not size.max() <= form.largest or bool(((size > 0) & (size < form.smallest_normal)).any())
        for size, form in floats
        if size.size
    )


def _with_factors(
    case: TestCase, inputs: Mapping[str, Any], expected: Expected
) -> tuple[Expected, dict[str, float]]:
    baseline = baseline_of(case, inputs)
    if baseline:
        if _elements(case.spec) > ELEMENTS_NEARBY:
            return allow_for(case, baseline, expected)
        nearby = partial(answers_nearby, case, inputs, nullcontext())
        return allow_for(case, baseline, expected, nearby)
    return expected, narrowed_for(case, default_baseline_of(case, inputs, expected), expected)


def _elements(spec: CaseSpec) -> int:
    return sum(math.prod(each.shape) for each in {*spec.read, *spec.checked})


def expected_arrays(case: TestCase, order: Order, expected: Expected) -> dict[str, Array]:
    """The expected outputs in the form in which they are kept. Raises SpillError."""
    return spilled(case, expected) if order.spill and order.answers else dict(expected)


class Here:
    """Makes sets in this process, one after the other, and holds the lock `problem` for each.

    `workers` convert a set's expected outputs while the next set is drawn.
    """

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
                    made = made_of(case, order, pool)
            except (Exception, SystemExit) as error:
                failed = [Failed(error)]
                break
            pending.append((made, self._workers.submit(expected_arrays, case, order, made.answers)))
        results: list[Made | Failed] = []
        for made, answers in pending:
            try:
                results.append(replace(made, answers=answers.result()))
            except Exception as error:
                return [*results, Failed(error)]
        return results + failed


class Source:
    """Makes sets of one case that all differ, with seeds that `chance` draws."""

    def __init__(self, maker: Maker, seen: Seen, chance: random.Random, pool: SharedMemory) -> None:
        self._maker, self._known, self._chance, self._pool = maker, seen, chance, pool

    def seed(self) -> int:
        return self._chance.getrandbits(SEED_BITS)

    def settled(self, order: Order, result: Made | Failed) -> tuple[Order, Made]:
        """Make a set again, with other seeds, until it differs from all others. Returns its order, too.

        Raises FaultError if it stays equal, and the exception of a set that failed.
        """
        for tries in range(1, TRIES + 1):
            if isinstance(result, Failed):
                raise result.error
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
