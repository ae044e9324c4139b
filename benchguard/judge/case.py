"""One case while it is graded: its throw-away and secret sets, its references, its output slots, its samples."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import cast

import msgspec
import numpy as np

from ..errors import UsageError
from ..ipc.shared_memory import FIXED, READ_ONLY, Bytes, SharedMemory
from ..ipc.slots import SlotError, SlotPlan, SlotReader
from ..problem.returned import ReturnedError, replayed_case
from ..problem.spec import NO_SEED, Buffer, Form, Layout, Returned, layout_of
from ..problem.suite import ReturningCase, TestCase
from .arrays import as_numbers, elements_of, shaped
from .blind_check import blind_reason
from .compare import compare
from .contract import Ask, Checked, Expected, Mismatch, Secrets, Slots
from .formats import Array, is_float
from .inputs import SEED_BITS, Seen, chance_for, write_set
from .making import Made, Maker, Order, Source, has_room_for_set
from .nearby import answers_nearby
from .partial_answers import SETS as PARTIAL_SETS
from .partial_answers import PartialAnswers, can_lose, part_of, partial_answers
from .plan import Sizes, available_bytes, check_room, plan, slot_count, spread
from .precision import errors_of, note
from .reference import Expected as Answers
from .reference import SpillError, as_output, check_answers, expected_of, kept_bytes
from .rounding import Factors, Rounding, Widths, largest_of, nearer, width_of
from .samples import Copy, Place, Right, Samples, places_of
from .slack import baseline_of, default_baseline_of, widened
from .stored_answers import SETS_MIN, StoredAnswers, least_factor, stored_answers
from .streaming import Stream, Supply
from .troubles import FaultError

THROWAWAY_SETS = 2
SETS_SHARE = 2
"""The secret sets of a case use at most half of the available memory."""


@dataclass(frozen=True)
class Tools:
    """Resources of all cases.

    `problem` is a lock, held while the problem's code runs, which need not be thread-safe. `maker` makes input sets,
    `workers` check samples, `parts` check parts of one sample, and `sets` ask the problem's own check.
    """

    problem: AbstractContextManager[object]
    maker: Maker
    workers: Executor
    parts: Executor
    sets: Executor
    threads: int


@dataclass(frozen=True)
class _Made:
    """Secret input sets, their distributions and references."""

    plan: SlotPlan
    distributions: tuple[str, ...]
    pool: SharedMemory
    expected: list[dict[str, Array]]
    factors: list[dict[str, float]]
    """For each set, by buffer: how much wider its tolerances are (slack.py)."""
    memory: Bytes
    """A view of the pool."""
    supply: Supply | None = None
    """Makes the one-use sets that are streamed."""
    stored: StoredAnswers = field(default_factory=StoredAnswers)
    """Narrows the tolerances of all sets."""
    zeros: frozenset[str] = frozenset()
    """Inputs that are zeros in all sets."""
    of_parts: PartialAnswers = field(default_factory=PartialAnswers)
    """Narrows the tolerances of the problem's own sets."""


class CaseJudge:
    """Judges one case. One thread calls the methods, in the order of the supervisor's questions."""

    def __init__(self, index: int, case: TestCase, ask: Ask, pool_bytes: int, tools: Tools) -> None:
        self._case = case
        self._spec = case.spec
        self._ask = ask
        self._pool_bytes = pool_bytes
        self._tools = tools
        self._index = index
        self._known = Seen(case.spec)
        self.read = layout_of(case.spec.read)
        self._checked = layout_of(case.spec.checked)
        self._rounds_left = ask.rounds
        self._sets: _Made | None = None
        self._right: Sequence[list[Right]] = ()
        self._returned: Returned | None = None
        self._places: Sequence[Place] = ()
        self._samples: Samples | None = None
        self._ended: Samples | None = None
        self._slots: SlotReader | None = None
        self._stream: Stream | None = None
        self._rounding = Rounding(case, self._own_sets, tools.problem)
        self._own_factors: list[float] = []
        self._is_beyond_room = False

    @property
    def throwaway_bytes(self) -> int:
        return THROWAWAY_SETS * self.read.stride

    def throwaway(self, shared: SharedMemory, start: int) -> tuple[Source, list[Order]]:
        """Throw-away sets: one of the problem's own distribution, one of another.

        They differ so that launches that depend on input values show up as a difference between the two captures.
        """
        chance = chance_for(self._ask.seed, f"throwaway {self._index}")
        source = Source(self._tools.maker, self._known, chance, shared)
        names = self._case.distributions
        distributions = (names[0], chance.choice(names[1:] or names))
        return source, [
            Order(self._index, name, source.seed(), start + number * self.read.stride)
            for number, name in enumerate(distributions)
        ]

    def secrets(self) -> tuple[Secrets, list[int]]:
        """Begin a round: make secret sets and references, in the first one, and start to read the output slots.

        A case with `returns` has no slots before slots(). The caller owns the descriptors.
        """
        if self._samples is not None or self._rounds_left == 0:
            raise UsageError("the secret inputs of this case were requested too often")
        self._rounds_left -= 1
        self._own_factors.clear()
        if self._sets is None:
            self._sets = self._make()
            self._sets = self._narrowed(self._sets)
            self._right = self._remembered(self._sets.plan)
        sets = self._sets
        ends: list[int] = []
        if sets.supply is not None:
            announced, announce = os.pipe()
            ends.append(announced)
            self._stream = Stream(sets.supply, announce)
        if self._spec.returns is None:
            ends += self._open_slots(sets.plan, self._checked, places_of(self._spec, self._checked))
        answer = Secrets(
            self.read,
            self._checked,
            sets.plan.sets,
            sets.plan.one_use,
            sets.plan.slots,
            sets.distributions,
            self._case.distributions[0],
            sets.plan.streamed,
            tuple(sorted(sets.zeros)),
        )
        return answer, [os.dup(sets.pool.descriptor), *ends]

    def slots(self, returned: Returned) -> tuple[Slots, list[int]]:
        """Start to read output slots for results in the memory that the submission chose."""
        if self._sets is None or self._samples is not None or self._spec.returns is None:
            raise UsageError("output slots of this case were requested out of turn")
        try:
            replayed = replayed_case(self._spec, returned)
        except ReturnedError as error:
            raise FaultError(str(error)) from error
        self._returned = returned
        layout = layout_of(replayed.checked)
        places = [
            Place(
                msgspec.structs.replace(form.view, name=buffer.name),
                layout.places[form.buffer][0] + form.offset if form.buffer in layout.places else 0,
                buffer.dtype,
            )
            for form, buffer in zip(returned.results, self._spec.checked, strict=True)
        ]
        slots = slot_count(layout.stride, self._pool_bytes)
        ends = self._open_slots(replace(self._sets.plan, slots=slots), layout, places)
        return Slots(layout, slots), ends

    def _remembered(self, plan: SlotPlan) -> Sequence[list[Right]]:
        """Room for right outputs of later rounds; none if it takes more memory than the inputs may."""
        fits = plan.sets * self._checked.stride <= self._pool_bytes
        return [[] for _ in range(plan.sets)] if self._rounds_left and not plan.streamed and fits else ()

    def _open_slots(self, plan: SlotPlan, layout: Layout, places: Sequence[Place]) -> list[int]:
        assert self._sets is not None
        self._places = places
        sets, stride = self._sets, layout.stride
        outputs = SharedMemory("neutrino-outputs", plan.slots * stride)
        outputs.seal(FIXED)
        memory = outputs.view()
        slots = [memory[at : at + stride] for at in range(0, outputs.size, stride)]
        self._samples = Samples(
            places,
            slots,
            [widened(self._case.tolerances, each) for each in sets.factors],
            sets.expected,
            sets.distributions,
            self._own if self._case.own_verdict or self._case.has_own_check else None,
            self._nearby,
            self._room,
            self._tools.parts,
            self._tools.threads,
            self._stream,
            self._right,
            own_decides=self._case.own_verdict,
        )
        if self._stream is not None:
            self._stream.begin(self._take)
        announced, announce = os.pipe()
        released, release = os.pipe()
        self._slots = SlotReader(plan, stride, announced, release, self._samples, self._tools.workers)
        return [outputs.descriptor, announce, released]

    def _take(self, number: int, made: Made) -> None:
        """Take a streamed set that was made for this round."""
        assert self._sets is not None and self._samples is not None
        factors = self._sets.stored.narrowed(made.factors)
        self._sets.factors[number] = (
            self._sets.of_parts.narrowed(factors) if self._is_own(number) else factors
        )
        tolerances = widened(self._case.tolerances, self._sets.factors[number])
        self._samples.prepare(number, made.answers, tolerances)

    def expected(self) -> tuple[Expected, list[int]]:
        """The expected outputs of each secret set, in the outputs' dtypes and layout."""
        if self._sets is None:
            raise UsageError("expected outputs of this case were requested before its secret inputs")
        shared = SharedMemory("neutrino-expected", len(self._sets.expected) * self._checked.stride)
        for number, values in enumerate(self._sets.expected):
            memory = {}
            for buffer in self._spec.checked:
                memory[buffer.name] = np.zeros(buffer.bytes, np.uint8)
                elements = elements_of(buffer, memory[buffer.name])
                elements[...] = as_output(buffer, values[buffer.name]).reshape(buffer.shape)
            write_set(shared, self._checked, number, memory)
        shared.seal(READ_ONLY)
        return Expected(self._checked, self._factors()), [shared.descriptor]

    def checked(self) -> Checked:
        """End the round, and return its results. Call free() after they are sent, because that takes a while."""
        if self._slots is None or self._samples is None or self._sets is None:
            raise UsageError("results of this case were requested before its secret inputs")
        reader, samples, stream = self._slots, self._samples, self._stream
        reader.finish()
        if stream is not None:
            stream.finish()
        self._slots = self._samples = self._stream = None
        self._ended = samples
        if stream is not None and stream.trouble is not None:
            raise stream.trouble
        if isinstance(reader.trouble, SlotError):
            raise FaultError(f"the replay announces {reader.trouble}; its results cannot be trusted")
        if reader.trouble is not None:
            raise reader.trouble
        return self._summary(samples, reader.announcements.by_set)

    def free(self) -> None:
        """Free the memory of a round that has ended; after the last round, all memory."""
        if self._ended is None:
            return
        self._ended = None
        if self._rounds_left == 0 and self._sets is not None:
            self._sets.pool.close()
            self._sets, self._right = None, ()

    def _make(self) -> _Made:
        """Make the sets. If memory is short, try references in float32 first, then fewer sets."""
        plans = [self._plan(spill=False)]
        if plans[0].sets < max(self._ask.sets_max, 2) + self._ask.one_use:
            spilled = self._plan(spill=True)
            if not spilled.streamed:  # a later set may be the one that float32 is too coarse for
                plans.insert(0, spilled)
        for number, each in enumerate(plans):
            try:
                return self._fill(each, spill=number < len(plans) - 1)
            except SpillError:
                continue
        raise AssertionError("the last plan spills nothing")

    def _plan(self, spill: bool) -> SlotPlan:
        sizes = Sizes(self.read.stride, kept_bytes(self._spec, spill), self._checked.stride)
        available = available_bytes()
        check_room(sizes, self._ask.one_use, available)
        share = available // SETS_SHARE
        return plan(sizes, self._ask.sets_max, self._ask.one_use, self._pool_bytes, share)

    def _fill(self, plan: SlotPlan, spill: bool) -> _Made:
        chance = chance_for(self._ask.seed, f"secrets {self._index}")
        counts = (plan.sets - plan.one_use, plan.one_use)
        names = spread(self._case.distributions, counts, chance, self._ask.others_every)
        pool = SharedMemory("neutrino-secrets", plan.stored * self.read.stride)
        stored = plan.sets - plan.one_use if plan.streamed else plan.sets
        try:
            source = Source(self._tools.maker, self._known, chance, pool)
            orders = [
                Order(
                    self._index,
                    name,
                    source.seed(),
                    plan.place_of(number) * self.read.stride,
                    answers=True,
                    spill=spill,
                )
                for number, name in enumerate(names)
            ]
            now, later = orders[:stored], orders[stored:]
            results = source.all_settled(now, iter(self._tools.maker.make(now, pool)))
            expected, factors = [each.answers for each in results], [each.factors for each in results]
            if not self._case.own_verdict and NO_SEED not in self._spec.notes:
                check_answers(self._spec, expected)
            pool.seal(FIXED if later else READ_ONLY)
        except BaseException:
            pool.close()
            raise
        digests = [each.digests for each in results]
        distributions = (*(each.distribution for each in results), *(each.distribution for each in later))
        supply = Supply(source, self._tools.maker, later, digests, pool) if later else None
        expected += [{} for _ in later]
        factors += [{} for _ in later]
        zeros = frozenset() if later else frozenset.intersection(*(each.zeros for each in results))
        return _Made(plan, distributions, pool, expected, factors, pool.view(), supply, zeros=zeros)

    def _narrowed(self, sets: _Made) -> _Made:
        """Narrow the tolerances if one stored answer, or answers from a part of the inputs, would pass."""
        if self._case.own_verdict:
            return sets
        self._sets = sets
        known = [number for number, each in enumerate(sets.expected) if each]
        answers, factors = [sets.expected[each] for each in known], [sets.factors[each] for each in known]

        @cache
        def baselines() -> list[dict[str, Array]]:
            case, problem = self._case, self._tools.problem
            return [
                baseline_of(case, arrays, problem) or default_baseline_of(case, arrays, problem=problem)
                for arrays in map(self._arrays_of, known)
            ]

        def least(buffer: Buffer) -> float:
            return least_factor(buffer, self._case.tolerances[buffer.name], answers, baselines())

        buffers, tolerances = self._spec.checked, self._case.tolerances
        stored = stored_answers(buffers, tolerances, answers, factors, baselines)
        narrowed = [stored.narrowed(each) for each in sets.factors]
        rows = (
            (sets.expected[number], narrowed[number], answer)
            for number, answer in self._from_parts(filter(self._is_own, known))
        )
        of_parts = partial_answers(buffers, tolerances, rows, least)
        for number in filter(self._is_own, known):
            narrowed[number] = of_parts.narrowed(narrowed[number])
        return replace(sets, stored=stored, of_parts=of_parts, factors=narrowed)

    def _is_own(self, of_set: int) -> bool:
        """Whether a set has the problem's own distribution."""
        assert self._sets is not None
        return self._sets.distributions[of_set] == self._case.distributions[0]

    def _from_parts(self, sets: Iterable[int]) -> Iterator[tuple[int, Answers]]:
        """The reference's answers to a part of the inputs of some sets (partial_answers.py)."""
        if not can_lose(self._spec.read, self._spec.checked) or not has_room_for_set(
            self._spec, available_bytes()
        ):
            return
        for number in islice(sets, PARTIAL_SETS):
            seed = chance_for(self._ask.seed, f"part {self._index} {number}").getrandbits(SEED_BITS)
            given = part_of(self._spec.read, self._arrays_of(number), seed)
            try:
                answers = expected_of(self._case, given, self._tools.problem)
            except (Exception, SystemExit):  # of the problem's code, for inputs that it did not draw
                return
            yield number, answers

    def _own(self, of_set: int, copy: Copy, is_near: bool) -> str | None:
        """The problem's own verdict on one set's outputs: None, or why they are wrong.

        `is_near`: the outputs are right by the set's tolerances.
        """
        assert self._sets is not None
        if not self._case.has_own_check:
            if self._sets.supply is not None:
                self._arrays_of(of_set)  # raises if the replay changed the inputs
            return None
        reason = self._asked(of_set, copy)
        if reason is not None and self._is_in_room(of_set, copy):
            return None
        if reason is not None or self._are_near(of_set, copy, is_near):
            return reason
        answers = self._answers(of_set)
        buffers = self._spec.checked
        return blind_reason(
            of_set,
            (
                [each.buffer for each in self._places],
                copy,
                lambda outputs: self._asked(of_set, outputs) is None,
            ),
            (
                buffers,
                {each.name: as_output(each, answers[each.name]) for each in buffers},
                lambda outputs: self._asked_of_right(of_set, outputs) is None,
            ),
            self._case.tolerances,
        )

    def _asked(self, of_set: int, copy: Copy) -> str | None:
        """The answer of the problem's own check. Its arrays are numpy's, on the host, and read-only."""
        if self._returned is None:
            return self._asked_of_right(of_set, copy)
        actual = {each.buffer.name: as_numbers(each.buffer, copy[each.buffer.name]) for each in self._places}
        inputs = self._arrays_of(of_set)
        with self._tools.problem:
            return cast(ReturningCase, self._case).verify_returned(inputs, self._returned.tree, actual)

    def _asked_of_right(self, of_set: int, copy: Copy) -> str | None:
        """As _asked(), for outputs with the dtypes and the structure of the reference's."""
        actual = {each.name: as_numbers(each, copy[each.name]) for each in self._spec.checked}
        inputs, expected = self._arrays_of(of_set), shaped(self._spec, self._answers(of_set))
        with self._tools.problem:
            return self._case.verify(inputs, expected, actual)

    def _are_near(self, of_set: int, copy: Copy, is_near: bool) -> bool:
        """Whether outputs are right by the tolerances of their dtypes, so that a check which accepts them saw them.

        `is_near` is the answer for the set's tolerances, and so for the dtypes' where the set has no factors.
        """
        assert self._sets is not None
        if not self._sets.factors[of_set]:
            return is_near
        answers, tolerances = self._answers(of_set), self._case.tolerances
        return all(
            each.is_comparable
            and not compare(
                copy[each.buffer.name],
                answers[each.buffer.name],
                each.buffer.dtype,
                tolerances[each.buffer.name],
                pool=self._tools.parts,
                threads=self._tools.threads,
            ).wrong
            for each in self._places
        )

    def _answers(self, of_set: int) -> Mapping[str, Array]:
        assert self._sets is not None
        return (self._samples.expected if self._samples is not None else self._sets.expected)[of_set]

    def _nearby(self, of_set: int) -> Iterator[Mapping[str, Array]]:
        return answers_nearby(self._case, self._arrays_of(of_set), self._tools.problem)

    def _room(self, of_set: int) -> Iterator[Factors]:
        """None for the problem's own distribution: its author chose the tolerance for it."""
        assert self._sets is not None
        if self._sets.distributions[of_set] == self._case.distributions[0]:
            return iter(())
        return self._rounding.factors(self._arrays_of(of_set), self._answers(of_set), self._widths(of_set))

    def _widths(self, of_set: int) -> Widths:
        """How wide the problem's own check is on a set, if it alone decides."""
        if not self._case.own_verdict:
            return {}
        answers, tolerances = self._answers(of_set), self._case.tolerances
        right = {each.name: as_output(each, answers[each.name]) for each in self._spec.checked}

        def accepts(name: str, moved: Array) -> bool:
            try:
                return self._asked_of_right(of_set, {**right, name: moved}) is None
            except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
                return False

        return {
            each.name: width_of(each, answers[each.name], tolerances[each.name], partial(accepts, each.name))
            for each in self._spec.checked
            if is_float(each.dtype)
        }

    def _own_sets(self) -> Iterator[tuple[Mapping[str, Array], Mapping[str, Array], Widths]]:
        """Inputs and expected outputs of the problem's own distribution that stay in memory."""
        assert self._sets is not None
        own = self._case.distributions[0]
        for number, distribution in enumerate(self._sets.distributions):
            if distribution == own and not self._sets.plan.is_streamed(number):
                yield self._arrays_of(number), self._answers(number), self._widths(number)

    def _is_in_room(self, of_set: int, copy: Copy) -> bool:
        """Whether the problem's own check accepts outputs once their errors are divided by the room for roundings.

        Once it does not, no other output is looked at: that takes runs of the reference, and the verdict is known.
        """
        if self._is_beyond_room or not all(each.is_comparable for each in self._places):
            return False
        answers = self._answers(of_set)
        for factors in self._room(of_set):
            moved = dict(copy)
            for place in self._places:
                name = place.buffer.name
                if name in factors:
                    moved[name] = nearer(place.buffer, copy[name], answers[name], factors[name])
            if factors and self._asked(of_set, moved) is None:
                self._own_factors.append(largest_of(factors))
                return True
        self._is_beyond_room = True
        return False

    def _arrays_of(self, of_set: int) -> dict[str, Array]:
        """The inputs of a set as the replay gets them. The reference may have changed its own copy."""
        assert self._sets is not None
        arrays = {}
        supply, place = self._sets.supply, self._sets.plan.place_of(of_set)
        for buffer in self._spec.read:
            offset, size = self.read.place(buffer.name, place)
            memory = self._sets.memory[offset : offset + size]
            if supply is not None:  # the memory is not sealed
                memory = memory.copy()
                supply.check(of_set, buffer.name, memory)
            stored = elements_of(buffer, memory)
            arrays[buffer.name] = as_numbers(buffer, stored)
        return arrays

    def _summary(self, samples: Samples, by_set: list[int]) -> Checked:
        assert self._sets is not None
        self._ask_own(samples)
        firsts = [state.mismatch for state in samples.sets if state.mismatch is not None]
        wrong: list[Mismatch] = sorted([*firsts, *samples.wrong_later], key=lambda each: each.sample)
        count = sum(state.same for state in samples.sets if state.mismatch is not None)
        return Checked(
            samples=sum(by_set),
            wrong=count + len(samples.wrong_later),
            first=wrong[0] if wrong else None,
            max_absolute_error=samples.max_absolute,
            max_relative_error=samples.max_relative,
            nondeterministic=sum(state.differs for state in samples.sets),
            precision="" if wrong or self._rounds_left else self._precision(samples),
            counts=tuple((number, count) for number, count in enumerate(by_set) if count),
            factors=self._factors(),
            own_verdict=self._case.own_verdict,
            stored=self._sets.stored.open if wrong or self._rounds_left else self._stored(samples),
            unchanged="" if wrong else self._unchanged(),
            of_parts=self._sets.of_parts.open if wrong or self._rounds_left else self._open_to_parts(samples),
            decided_by_rounding=samples.decided_by_rounding,
            rounding_factor=max([samples.rounding_factor, *self._own_factors]),
        )

    def _ask_own(self, samples: Samples) -> None:
        """Show the first outputs of each set to the problem's own check, several sets at once.

        A check that fails beside others is made again alone: the memory of a GPU is not planned.
        """
        assert self._sets is not None
        numbers = [
            number
            for number, state in enumerate(samples.sets)
            if state.same and state.mismatch is None and not self._sets.plan.is_streamed(number)
        ]

        def ask(number: int) -> str | None:
            state = samples.sets[number]
            return self._own(number, state.copy, state.is_near)

        def ask_beside(number: int) -> tuple[bool, str | None]:
            """Whether the check ended, and its answer."""
            try:
                return True, ask(number)
            except (Exception, SystemExit):
                return False, None

        for number, (is_known, answer) in zip(
            numbers, list(self._tools.sets.map(ask_beside, numbers)), strict=True
        ):
            reason = answer if is_known else ask(number)
            if reason is not None:
                state = samples.sets[number]
                state.mismatch = samples.mismatch(state.sample, number, reason)

    def _stored(self, samples: Samples) -> tuple[str, ...]:
        """The outputs for which one stored answer would pass; with the problem's own check, all or none.

        The own check is given right outputs of one set as those of another.
        """
        assert self._sets is not None
        if not self._case.own_verdict:
            return self._sets.stored.open
        own = self._case.distributions[0]
        sets = [
            number
            for number, state in enumerate(samples.sets)
            if state.same
            and self._sets.distributions[number] == own
            and not self._sets.plan.is_streamed(number)
        ][:SETS_MIN]
        others = [*sets[1:], *sets[:1]]
        try:
            accepts = len(sets) == SETS_MIN and all(
                self._asked(of_set, samples.sets[other].copy) is None
                for of_set, other in zip(sets, others, strict=True)
            )
        except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
            accepts = False
        return tuple(each.name for each in self._spec.checked) if accepts else ()

    def _open_to_parts(self, samples: Samples) -> tuple[str, ...]:
        """The outputs for which those from a part of the inputs would pass; by the problem's own check all or none."""
        assert self._sets is not None
        if not self._case.own_verdict:
            return self._sets.of_parts.open
        buffers, count = self._spec.checked, 0
        if not all(is_float(each.dtype) for each in buffers):
            return ()
        kept = (each for each, state in enumerate(samples.sets) if state.same and self._is_own(each))
        for number, answers in self._from_parts(kept):
            given = {each.name: as_output(each, answers[each.name]) for each in buffers}
            try:
                reason = self._asked_of_right(number, given)
            except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
                return ()
            if reason is not None:
                return ()
            count += 1
        return tuple(each.name for each in buffers) if count else ()

    def _unchanged(self) -> str:
        """Why nothing shows that the call computed a result; empty if its outputs show it.

        A problem's answer may be its input: max(x, 0) of numbers between 0 and 1. A call that returns this input, or a
        view of it, is right without any work. Results that the reference itself puts into the input do not count.
        """
        if self._returned is None or self._spec.returns is None or self._sets is None:
            return ""
        known = [number for number, each in enumerate(self._sets.expected) if each]
        rows = zip(self._returned.results, self._spec.returns.results, self._spec.checked, strict=True)
        for form, own, buffer in rows:
            if form.buffer not in self.read.places or form.buffer == own.buffer:
                continue
            if known and all(self._is_right_before(number, form, buffer) for number in known):
                return (
                    f"{buffer.name} is in the memory of {form.buffer}, and the right answer is there before the call "
                    "in all input sets, so nothing shows that the call computes it; return other memory"
                )
        return ""

    def _is_right_before(self, of_set: int, form: Form, buffer: Buffer) -> bool:
        """Whether a result's memory has the right answer before the call."""
        assert self._sets is not None
        start, _ = self.read.place(form.buffer, self._sets.plan.place_of(of_set))
        start += form.offset
        stored = elements_of(form.view, self._sets.memory[start : start + form.view.bytes]).reshape(-1)
        expected = self._answers(of_set)[buffer.name]
        if form.dtype != buffer.dtype or stored.shape != expected.shape:
            return False
        return not compare(stored, expected, buffer.dtype, self._case.tolerances[buffer.name]).wrong

    def _factors(self) -> dict[str, float]:
        """The largest factor of each buffer's tolerance over all sets."""
        assert self._sets is not None
        named = {name for factors in self._sets.factors for name in factors}
        largest = {name: max(each.get(name, 1.0) for each in self._sets.factors) for name in named}
        return {name: factor for name, factor in largest.items() if factor != 1}

    def _precision(self, samples: Samples) -> str:
        """The note on precision, from the problem's own distribution only: others are chosen to be difficult."""
        assert self._sets is not None
        own = self._case.distributions[0]
        numbers = [
            number
            for number, state in enumerate(samples.sets)
            if state.same
            and self._sets.distributions[number] == own
            and not self._sets.plan.is_streamed(number)
        ]
        if not numbers:
            return ""
        baseline = baseline_of(self._case, self._arrays_of(numbers[0]), self._tools.problem)
        for place in samples.places:
            buffer = place.buffer
            if not is_float(buffer.dtype) or not place.is_comparable:
                continue
            tolerance = self._case.tolerances[buffer.name]
            pairs = [
                (samples.sets[each].copy[buffer.name], samples.expected[each][buffer.name])
                for each in numbers
            ]
            honest = None
            if buffer.name in baseline:
                honest_pair = (baseline[buffer.name], samples.expected[numbers[0]][buffer.name])
                honest = errors_of([honest_pair], buffer.dtype, tolerance)
            text = note(buffer.name, buffer.dtype, errors_of(pairs, buffer.dtype, tolerance), honest)
            if text:
                return text
        return ""
