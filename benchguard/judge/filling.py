"""Make the secret input sets of a case with their references: as many as memory and time allow (plan.py).

If a reference is slow, the fewest sets with which the tests of the time can tell will do. Otherwise 20 runs of a
reference of a second would take longer than the rest of a grade.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from ..ipc.shared_memory import FIXED, READ_ONLY, SharedMemory
from ..ipc.slots import SlotPlan
from ..problem.spec import NO_SEED, Layout
from ..problem.suite import TestCase
from .contract import Ask
from .inputs import Seen, chance_for
from .making import Made, Maker, Order, Source
from .plan import (
    OWN_IN_MEMORY,
    Sizes,
    check_room,
    fewest,
    is_worth_spilling,
    least_bytes,
    numbers_in,
    plan,
    spread,
)
from .reference import SpillError, check_answers, kept_bytes
from .room import ROOM, available_bytes
from .secret_sets import SecretSets
from .streaming import Supply

SETS_SHARE = 2
"""The secret sets of a case use at most half of the available memory, and less while other graders plan theirs."""


@dataclass(frozen=True)
class Filling:
    """Makes the secret sets of the case `index`. `known` are the inputs of its sets so far."""

    index: int
    case: TestCase
    ask: Ask
    known: Seen
    maker: Maker
    read: Layout
    checked: Layout
    pool_bytes: int

    @property
    def least_bytes(self) -> int:
        """Memory that the sets take at least."""
        return least_bytes(self._sizes(spill=False), self.ask.one_use)

    def sets(self) -> SecretSets:
        """Make the sets. If memory is short, try references in float32 first, if these allow more sets."""
        with ROOM.planning(self.least_bytes):
            plans = [self._plan(spill=False)]
            if plans[0].sets < max(self.ask.sets_max, 2) + self.ask.one_use:
                spilled = self._plan(spill=True)
                if is_worth_spilling(plans[0], spilled):
                    plans.insert(0, spilled)
            sizes = self._sizes(spill=False)
            count = 1 + max(each.stored for each in plans)  # a set is drawn and computed before it is stored
            ROOM.claim(count * (sizes.inputs + sizes.expected), count)
        for number, each in enumerate(plans):
            try:
                return self._fill(each, spill=number < len(plans) - 1)
            except SpillError:
                continue
        raise AssertionError("the last plan spills nothing")

    def _sizes(self, spill: bool) -> Sizes:
        return Sizes(self.read.stride, kept_bytes(self.case.spec, spill), self.checked.stride)

    def _plan(self, spill: bool) -> SlotPlan:
        sizes = self._sizes(spill)
        available = available_bytes()
        check_room(sizes, self.ask.one_use, available)
        share = available // max(SETS_SHARE, 1 + ROOM.unplanned())
        return plan(sizes, self.ask.sets_max, self.ask.one_use, self.pool_bytes, share)

    def _fill(self, plan: SlotPlan, spill: bool) -> SecretSets:
        chance = chance_for(self.ask.seed, f"secrets {self.index}")
        pool = SharedMemory("neutrino-secrets", plan.stored * self.read.stride)
        try:
            source = Source(self.maker, self.known, chance, pool)
            few = plan if self.ask.patience is None else fewest(plan)
            first = numbers_in(few, plan)
            rest = [each for each in range(plan.sets) if each not in first]
            counts = (
                *few.counts,
                *(all_ - those for all_, those in zip(plan.counts, few.counts, strict=True)),
            )
            own_least = OWN_IN_MEMORY if plan.streamed else 0
            names = spread(self.case.distributions, counts, chance, self.ask.others_every, own_least)
            orders = {
                number: Order(
                    self.index,
                    name,
                    source.seed(),
                    plan.place_of(number) * self.read.stride,
                    answers=True,
                    spill=spill,
                )
                for number, name in zip([*first, *rest], names, strict=True)
            }
            later = [orders[each] for each in first if plan.is_streamed(each)]
            began = time.monotonic()
            made = self._made(
                source, {each: orders[each] for each in first if not plan.is_streamed(each)}, pool
            )
            if rest and time.monotonic() - began > (self.ask.patience or 0):
                for place, number in enumerate(first):
                    pool.copy(self.read.stride, number * self.read.stride, place * self.read.stride)
                plan = few
            elif rest:
                made |= self._made(source, {each: orders[each] for each in rest}, pool)
            results = [made[number] for number in sorted(made)]
            expected, factors = [each.answers for each in results], [each.factors for each in results]
            if not self.case.own_verdict and NO_SEED not in self.case.spec.notes:
                check_answers(self.case.spec, expected)
            pool.seal(FIXED if later else READ_ONLY)
        except BaseException:
            pool.close()
            raise
        digests = [each.digests for each in results]
        distributions = (*(each.distribution for each in results), *(each.distribution for each in later))
        supply = Supply(source, self.maker, later, digests, pool) if later else None
        expected += [{} for _ in later]
        factors += [{} for _ in later]
        zeros = frozenset() if later else frozenset.intersection(*(each.zeros for each in results))
        return SecretSets(
            self.case,
            self.read,
            plan,
            distributions,
            pool,
            pool.view(),
            expected,
            factors,
            supply,
            zeros,
            source,
        )

    def _made(self, source: Source, orders: Mapping[int, Order], pool: SharedMemory) -> dict[int, Made]:
        """Make sets by their numbers."""
        wanted = list(orders.values())
        settled = source.all_settled(wanted, iter(self.maker.make(wanted, pool)))
        return dict(zip(orders, settled, strict=True))
