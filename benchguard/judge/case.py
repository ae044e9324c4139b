"""One case while it is graded: its throw-away and secret sets, its references, its output slots, its samples."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ..errors import UsageError
from ..ipc.shared_memory import FIXED, READ_ONLY, SharedMemory
from ..ipc.slots import SlotError, SlotPlan, SlotReader
from ..problem.returned import ReturnedError, replayed_case
from ..problem.spec import Layout, Returned, layout_of
from ..problem.suite import TestCase
from .arrays import elements_of
from .contract import Ask, Checked, Expected, Mismatch, Secrets, Slots
from .filling import Filling
from .formats import Array, is_float
from .inputs import SEED_BITS, Seen, chance_for, write_set
from .making import Made, Maker, Order, Source
from .narrowing import Narrowing
from .nearby import answers_nearby
from .own_check import OwnCheck
from .plan import slot_count
from .reference import as_output
from .right_outputs import RightOutputs, Unshown
from .samples import Place, Right, Samples, places_of
from .secret_sets import SecretSets
from .slack import in_own_precision, widened
from .streaming import Stream
from .troubles import FaultError
from .undecided import undecided_answer

THROWAWAY_SETS = 2


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
        self._filling = Filling(
            index, case, ask, self._known, tools.maker, self.read, self._checked, pool_bytes
        )
        self._rounds_left = ask.rounds
        self._is_made = False
        self._sets: SecretSets | None = None
        self._own_check: OwnCheck | None = None
        self._narrowing: Narrowing | None = None
        self._right_outputs: RightOutputs | None = None
        self._right: Sequence[list[Right]] = ()
        self._returned: Returned | None = None
        self._samples: Samples | None = None
        self._ended: Samples | None = None
        self._slots: SlotReader | None = None
        self._stream: Stream | None = None

    @property
    def throwaway_bytes(self) -> int:
        return THROWAWAY_SETS * self.read.stride

    @property
    def least_bytes(self) -> int:
        """Memory that the secret sets take at least; 0 if they are made."""
        return 0 if self._is_made else self._filling.least_bytes

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
        sets = self._begin_judging() if self._sets is None else self._sets
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

    def _begin_judging(self) -> SecretSets:
        """Make the secret sets, and narrow their tolerances."""
        case, tools = self._case, self._tools
        self._is_made = True
        self._sets = sets = self._filling.sets()
        self._own_check = OwnCheck(case, sets, self._answers, tools.problem, tools.parts, tools.threads)
        self._narrowing = Narrowing(case, sets, self._part_seed, tools.problem)
        self._narrowing.narrow()
        self._right_outputs = RightOutputs(case, sets, self._own_check, self._part_seed, tools.problem)
        self._right = self._remembered(sets.plan)
        return sets

    def _part_seed(self, number: int) -> int:
        return chance_for(self._ask.seed, f"part {self._index} {number}").getrandbits(SEED_BITS)

    def _remembered(self, plan: SlotPlan) -> Sequence[list[Right]]:
        """Room for right outputs of later rounds; none if it takes more memory than the inputs may."""
        fits = plan.sets * self._checked.stride <= self._pool_bytes
        return [[] for _ in range(plan.sets)] if self._rounds_left and not plan.streamed and fits else ()

    def _open_slots(self, plan: SlotPlan, layout: Layout, places: Sequence[Place]) -> list[int]:
        assert self._sets is not None and self._own_check is not None
        sets, own_check, stride = self._sets, self._own_check, layout.stride
        own_check.begin(places, self._returned)
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
            own_check.verdict if self._case.own_verdict or self._case.has_own_check else None,
            self._nearby,
            own_check.room,
            self._tools.parts,
            self._tools.threads,
            self._stream,
            self._right,
            own_decides=self._case.own_verdict,
            is_undecided=self._is_undecided,
        )
        if self._stream is not None:
            self._stream.begin(self._take)
        announced, announce = os.pipe()
        released, release = os.pipe()
        self._slots = SlotReader(plan, stride, announced, release, self._samples, self._tools.workers)
        return [outputs.descriptor, announce, released]

    def _take(self, number: int, made: Made) -> None:
        """Take a streamed set that was made for this round."""
        assert self._sets is not None and self._samples is not None and self._narrowing is not None
        self._sets.factors[number] = self._narrowing.factors_of(number, made.factors)
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

    def checked(self, *, in_a_row: int = 0) -> Checked:
        """End the round, and return its results. Call free() after they are sent, because that takes a while.

        `in_a_row`: see AskChecked.
        """
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
        return self._summary(samples, reader.announcements.by_set, in_a_row)

    def free(self) -> None:
        """Free the memory of a round that has ended; after the last round, all memory."""
        if self._ended is None:
            return
        self._ended = None
        if self._rounds_left == 0 and self._sets is not None:
            self._sets.free()
            self._sets, self._right = None, ()
            self._own_check = self._narrowing = self._right_outputs = None

    def _answers(self, of_set: int) -> Mapping[str, Array]:
        assert self._sets is not None
        return (self._samples.expected if self._samples is not None else self._sets.expected)[of_set]

    def _nearby(self, of_set: int) -> Iterator[Mapping[str, Array]]:
        """The reference's answers for elements that rounding may decide: first its integers in the submission's
        precision."""
        assert self._sets is not None
        arrays = self._sets.arrays_of(of_set)
        if not all(is_float(each.dtype) for each in self._case.spec.checked):
            yield {**self._answers(of_set), **self._own_integers(arrays)}
        yield from answers_nearby(self._case, arrays, self._tools.problem)

    def _is_undecided(self, of_set: int) -> bool:
        """Whether a set with wrong outputs does not count."""
        assert self._sets is not None
        if self._sets.is_own(of_set):
            return False
        answers = answers_nearby(self._case, self._sets.arrays_of(of_set), self._tools.problem)
        factors, expected = self._sets.factors[of_set], self._answers(of_set)
        return undecided_answer(self._case, factors, expected, answers) is not None

    def _own_integers(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        try:
            own = in_own_precision(self._case, arrays, self._tools.problem)
        except (Exception, SystemExit):  # of the problem's code
            return {}
        integers = [each.name for each in self._case.spec.checked if not is_float(each.dtype)]
        return {name: own[name] for name in integers if name in own}

    def _summary(self, samples: Samples, by_set: list[int], in_a_row: int) -> Checked:
        sets, own_check, narrowing, right = self._sets, self._own_check, self._narrowing, self._right_outputs
        assert sets is not None and own_check is not None and narrowing is not None and right is not None
        own_check.ask_of_all(samples, self._tools.sets)
        samples.ask_rest()
        firsts = [state.mismatch for state in samples.sets if state.mismatch is not None]
        timed = sum(by_set) - in_a_row
        in_order = sorted([*firsts, *samples.wrong_later], key=lambda each: each.sample)
        later = [each for each in samples.wrong_later if each.sample < timed]
        wrong: list[Mismatch] = [each for each in in_order if each.sample < timed]
        copies = {number: state.copy for number, state in enumerate(samples.sets) if state.same}
        unchanged = "" if wrong else right.unchanged(copies, self._returned)
        unshown = Unshown("", {}) if wrong or unchanged else right.unshown(samples, copies)
        is_check_asked = self._case.own_verdict and not (wrong or self._rounds_left)
        same = (each for state in samples.sets if state.mismatch is not None for each in state.same)
        count = sum(each < timed for each in same)
        undecided = samples.undecided | own_check.undecided
        counted = [state for number, state in enumerate(samples.sets) if number not in undecided]
        return Checked(
            samples=timed,
            wrong=count + len(later),
            first=wrong[0] if wrong else None,
            max_absolute_error=max((each.max_absolute for each in counted), default=0.0),
            max_relative_error=max((each.max_relative for each in counted), default=0.0),
            nondeterministic=sum(any(each < timed for each in state.differing) for state in samples.sets),
            precision="" if wrong or self._rounds_left else right.precision(samples),
            counts=tuple((number, count) for number, count in enumerate(by_set) if count),
            factors=self._factors(),
            causes=narrowing.causes,
            own_verdict=self._case.own_verdict,
            stored=(
                narrowing.outputs_open_to_stored(copies, own_check.ask)
                if is_check_asked
                else narrowing.stored.open
            ),
            unchanged=unchanged,
            of_other_inputs=unshown.reason,
            unseen=dict(unshown.unseen),
            of_parts=(
                narrowing.outputs_open_to_parts(copies, own_check.ask_of_right)
                if is_check_asked
                else narrowing.of_parts.open
            ),
            copied=narrowing.copied,
            ignorable=(
                narrowing.inputs_open_to_others(copies, own_check.ask_of_right)
                if is_check_asked
                else narrowing.ignorable
            ),
            refused=narrowing.refused,
            refused_others=sets.refused,
            only_others=bool(wrong) and not any(sets.is_own(each.set) for each in wrong),
            in_a_row=next((each for each in in_order if each.sample >= timed), None),
            decided_by_rounding=samples.decided_by_rounding,
            undecided=tuple(sorted({sets.distributions[each] for each in undecided})),
            rounding_factor=max(samples.rounding_factor, own_check.largest_factor),
        )

    def _factors(self) -> dict[str, float]:
        """The largest factor of each buffer's tolerance over all sets."""
        assert self._sets is not None
        named = {name for factors in self._sets.factors for name in factors}
        largest = {name: max(each.get(name, 1.0) for each in self._sets.factors) for name in named}
        return {name: factor for name, factor in largest.items() if factor != 1}
