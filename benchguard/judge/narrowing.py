"""Narrow the tolerances of a case where an answer without the inputs, or from a part of them, would pass.

stored_answers.py and partial_answers.py say how. Where the problem's own check alone decides, there is no tolerance to
narrow: the check is asked about such answers, and the result has a note if it accepts them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

from ..ipc.text import one_line
from ..problem.spec import Buffer, Tolerance
from ..problem.suite import TestCase
from .contract import Cause
from .copied import copied
from .formats import Array, is_float
from .ignorable import ignorable_inputs
from .making import has_room_for_set
from .partial_answers import (
    MOVED_MOST,
    MOVED_SHARE,
    SETS,
    PartialAnswers,
    are_numbers,
    beside_lost,
    change,
    groups_of,
    is_of_small_spread,
    is_sum,
    movable,
    moved_in,
    part_of,
    partial_answers,
    without_extremes,
)
from .reference import Expected, as_outputs, expected_of
from .room import available_bytes
from .samples import Copy
from .secret_sets import SecretSets
from .selected import has_more_bits, selected
from .slack import Factors, baseline_of, default_baseline_of, widened
from .stored_answers import SETS_MIN, StoredAnswers, least_factor, margin_of, stored_answers

LARGE_BYTES = 1 << 30
"""With as many bytes of inputs in a set, the problem's own check is asked about a part of one set's inputs instead of
SETS. The answer is only a note, and further sets only guard against a change that is small by chance. With 8 GiB, three
sets took 20 s at the end of a grade on an H200 (KernelBench's level1/94 and level1/47)."""

EXTREMES_MARGIN = 2.0**-4
"""The share of the room for honest errors that the results of a largest element need: they are a few roundings, 2^-20
of the largest number in float32, and no sum."""

REFUSED_MAX = 200

OwnAnswer = Callable[[int, Copy], str | None]
"""The answer of the problem's own check to outputs of a set: None, or why they are wrong."""


class Narrowing:
    """The narrower tolerances of one case.

    `part_seed` gives the seed that chooses a part of a set's inputs. `problem` is held while the problem's code runs.
    A stored answer would pass in all sets for the outputs `stored.open`, and an answer from a part of the inputs for
    the outputs `of_parts.open`; both are empty where the problem's own check decides.
    """

    def __init__(
        self,
        case: TestCase,
        sets: SecretSets,
        part_seed: Callable[[int], int],
        problem: AbstractContextManager[object],
    ) -> None:
        self._case, self._sets, self._part_seed, self._problem = case, sets, part_seed, problem
        self.stored = StoredAnswers()
        self.of_parts = PartialAnswers()
        self.copied: dict[str, str] = {}
        """The outputs that are within the tolerance of an input, with its name (copied.py)."""

        self.ignorable: tuple[str, ...] = ()
        """The inputs that hardly change the right answer (ignorable.py)."""

        self.causes: dict[str, Cause] = {}
        """Why tolerances are narrowed, by buffer: the cause of the narrowest."""

        self.refused = ""
        """Why the reference did not answer to changed inputs; empty if it did."""

        self._narrowest: dict[str, float] = {}

    def narrow(self) -> None:
        """Narrow the tolerances if one stored answer, or answers from a part of the inputs, would pass."""
        if self._case.own_verdict:
            return
        sets, buffers, tolerances = self._sets, self._case.spec.checked, self._case.tolerances
        known = [number for number, each in enumerate(sets.expected) if each]
        answers, factors = [sets.expected[each] for each in known], [sets.factors[each] for each in known]

        @cache
        def baseline(number: int) -> Mapping[str, Array]:
            case, problem, arrays = self._case, self._problem, sets.arrays_of(number)
            return baseline_of(case, arrays, problem) or default_baseline_of(case, arrays, problem=problem)

        def baselines() -> list[Mapping[str, Array]]:
            return [baseline(each) for each in known]

        def least(buffer: Buffer, margin: float = 1.0) -> float:
            return least_factor(buffer, tolerances[buffer.name], answers, baselines(), margin)

        own = list(filter(sets.is_own, known))
        exact = selected(
            self._case.spec.read,
            buffers,
            tolerances,
            ((sets.arrays_of(each), sets.expected[each], partial(baseline, each)) for each in own[:SETS]),
            self._part_seed(0),
        )
        computed = [each for each in buffers if each.name not in exact]
        stored = stored_answers(computed, tolerances, answers, factors, baselines)
        for of_set in factors:
            self._note("zeros", of_set)
        self._note("selected", exact)
        self._note("stored", stored.limits)
        narrowed = [stored.narrowed(each) for each in sets.factors]
        # Sums that cancel, say: one number passes anyway, and honest errors are as large as those of the summands.
        guarded = [each for each in computed if each.name not in stored.open]
        of_parts = self._narrowed_for_parts(guarded, own, narrowed, least)
        of_parts = replace(of_parts, limits={**of_parts.limits, **exact})
        for number in own:
            narrowed[number] = of_parts.narrowed(narrowed[number])
        self.stored, self.of_parts, sets.factors = stored, of_parts, narrowed
        pairs = (
            (sets.arrays_of(each), sets.expected[each]) for each in own[: 1 if self._is_large() else SETS]
        )
        self.copied = copied(self._case.spec.read, buffers, self._widest(own), pairs)
        if len(self.copied) < len(buffers) and len(stored.open) < len(buffers):
            self.ignorable = self._ignorable(own, self._is_near)

    def _widest(self, own: Sequence[int]) -> dict[str, Tolerance]:
        """The widest tolerance of each buffer in the problem's own sets."""
        every = [widened(self._case.tolerances, self._sets.factors[each]) for each in own]
        return {
            name: max((each[name] for each in every), key=lambda each: (each.atol, each.rtol), default=given)
            for name, given in self._case.tolerances.items()
        }

    def _note(self, cause: Cause, limits: Factors) -> None:
        """Take note of the cause of the narrowest tolerances so far."""
        for name, limit in limits.items():
            if limit < self._narrowest.get(name, 1.0):
                self._narrowest[name], self.causes[name] = limit, cause

    def _narrowed_for_parts(
        self,
        computed: Sequence[Buffer],
        own: Sequence[int],
        factors: Sequence[Factors],
        least: Callable[..., float],
    ) -> PartialAnswers:
        floats = [each for each in computed if is_float(each.dtype)]
        wide = [each for each in floats if self._is_wide(each, own, factors)]
        has_floats = any(is_float(each.dtype) for each in self._case.spec.read)
        found = PartialAnswers()
        for group in groups_of(self._case.spec.read):
            if has_floats and own and not are_numbers(group, self._sets.arrays_of(own[0])):
                continue
            sums = [each for each in computed if is_sum(each, group)]
            compared = [*sums, *(each for each in wide if each not in sums)]
            count = SETS if sums or not self._is_large() else 1
            answers = self._from_parts(group, own if compared else (), count)
            rows = self._rows(group, compared, answers, factors)
            of_group = partial_answers(compared, self._case.tolerances, rows, least)
            found = self._with("part", found, of_group)
            same = [each for each in sums if each.name in of_group.unchanged and has_more_bits(each)]
            answers = self._from_changed(partial(without_extremes, group), own if same else (), SETS)
            rows = self._rows(group, same, answers, factors)
            few_roundings = partial(least, margin=EXTREMES_MARGIN)
            of_extremes = partial_answers(same, self._case.tolerances, rows, few_roundings, share=0)
            found = self._with("extremes", found, of_extremes)
        for number, mover in enumerate(movable(self._case.spec.read) if own and wide else ()):
            is_last_axis = number == 0 and mover.axis == -1
            if not is_last_axis and not is_of_small_spread(self._sets.arrays_of(own[0])[mover.buffer.name]):
                continue
            answers = self._from_changed(partial(moved_in, mover), own, 1 if self._is_large() else SETS)
            rows = self._rows([mover.buffer], wide, answers, factors)
            moved = partial_answers(
                wide, self._case.tolerances, rows, least, share=MOVED_SHARE, most=MOVED_MOST
            )
            found = self._with("order", found, moved)
        return found

    def _with(self, cause: Cause, found: PartialAnswers, others: PartialAnswers) -> PartialAnswers:
        self._note(cause, others.limits)
        return found.with_others(others)

    def _rows(
        self,
        group: Sequence[Buffer],
        compared: Sequence[Buffer],
        answers_of: Iterable[tuple[int, Expected]],
        factors: Sequence[Factors],
    ) -> Iterator[tuple[Expected, Factors, Expected]]:
        for number, answers in answers_of:
            expected, tolerances = (
                self._sets.expected[number],
                widened(self._case.tolerances, factors[number]),
            )
            beside = {
                each.name: beside_lost(expected[each.name], answers[each.name], tolerances[each.name])
                for each in compared
                if not is_sum(each, group)
            }
            yield expected, factors[number], {**answers, **beside}

    def _is_wide(self, buffer: Buffer, own: Sequence[int], factors: Sequence[Factors]) -> bool:
        """Whether a tolerance is wider than honest errors need, so that it can be narrowed."""
        if not own:
            return False
        margin = margin_of(buffer, self._case.tolerances[buffer.name], [self._sets.expected[own[0]]])
        return margin < max(factors[each].get(buffer.name, 1.0) for each in own)

    def factors_of(self, number: int, factors: Factors) -> dict[str, float]:
        """The narrowed factors of a set that is made later. `factors` are those of slack.py."""
        narrowed = self.stored.narrowed(factors)
        return self.of_parts.narrowed(narrowed) if self._sets.is_own(number) else narrowed

    def outputs_open_to_stored(self, copies: Mapping[int, Copy], ask: OwnAnswer) -> tuple[str, ...]:
        """The outputs for which the problem's own check accepts a stored answer: all or none.

        The check is given right outputs of one set as those of another. `copies` has the submission's outputs by set.
        """
        sets = [number for number in self._sets.own_in_memory() if number in copies][:SETS_MIN]
        others = [*sets[1:], *sets[:1]]
        try:
            accepts = len(sets) == SETS_MIN and all(
                ask(number, copies[other]) is None for number, other in zip(sets, others, strict=True)
            )
        except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
            accepts = False
        return tuple(each.name for each in self._case.spec.checked) if accepts else ()

    def outputs_open_to_parts(self, numbers: Collection[int], ask: OwnAnswer) -> tuple[str, ...]:
        """The outputs for which the problem's own check accepts those from a part of the inputs: all or none.

        `ask` takes outputs with the dtypes of the reference's, in some of the sets `numbers`.
        """
        buffers, count = self._case.spec.checked, 0
        groups = groups_of(self._case.spec.read)[:1]
        if not groups or not all(is_float(each.dtype) for each in buffers):
            return ()
        own = (number for number in self._sets.own_in_memory() if number in numbers)
        for number, answers in self._from_parts(groups[0], own, 1 if self._is_large() else SETS):
            shown = self._answers_to_show(groups[0], number, answers)
            if not shown:
                return ()
            given = as_outputs(buffers, shown)
            try:
                reason = ask(number, given)
            except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
                return ()
            if reason is not None:
                return ()
            count += 1
        return tuple(each.name for each in buffers) if count else ()

    def _answers_to_show(self, group: Sequence[Buffer], number: int, answers: Expected) -> Expected:
        """The answers to a part of a set's inputs, but the expected numbers where these inputs are lost. Empty if these
        are all numbers, as for an elementwise function."""
        expected = self._sets.expected[number]
        if not expected:
            return answers if all(is_sum(each, group) for each in self._case.spec.checked) else {}
        shown = {
            each.name: answers[each.name]
            if is_sum(each, group)
            else beside_lost(expected[each.name], answers[each.name])
            for each in self._case.spec.checked
        }
        is_same = all(np.array_equal(each, expected[name], equal_nan=True) for name, each in shown.items())
        return {} if is_same else shown

    def inputs_open_to_others(self, numbers: Collection[int], ask: OwnAnswer) -> tuple[str, ...]:
        """The inputs that hardly change what the problem's own check accepts. `numbers` and `ask`: as for
        outputs_open_to_parts()."""
        buffers = self._case.spec.checked

        def is_right(number: int, answers: Expected) -> bool:
            return ask(number, as_outputs(buffers, answers)) is None

        return self._ignorable([each for each in self._sets.own_in_memory() if each in numbers], is_right)

    def _ignorable(self, own: Sequence[int], is_right: Callable[[int, Expected], bool]) -> tuple[str, ...]:
        if len(own) < 2 or not has_room_for_set(self._case.spec, available_bytes()):
            return ()
        one, other = own[:2]
        arrays, others, expected = (
            self._sets.arrays_of(one),
            self._sets.arrays_of(other),
            self._sets.expected[one],
        )
        return ignorable_inputs(self._case, arrays, others, expected, partial(is_right, one), self._problem)

    def _is_near(self, number: int, answers: Expected) -> bool:
        """Whether all numbers are within the tolerances of a set."""
        tolerances = widened(self._case.tolerances, self._sets.factors[number])
        expected = self._sets.expected[number]
        return all(change(answers[name], expected[name], each) <= 1 for name, each in tolerances.items())

    def _is_large(self) -> bool:
        return sum(each.bytes for each in self._case.spec.read) >= LARGE_BYTES

    def _from_parts(
        self, group: Sequence[Buffer], numbers: Iterable[int], count: int
    ) -> Iterator[tuple[int, Expected]]:
        """The reference's answers to a part of the inputs of the first `count` sets (partial_answers.py)."""
        return self._from_changed(partial(part_of, group), numbers, count)

    def _from_changed(
        self, change: Callable[[Mapping[str, Any], int], dict[str, Any]], numbers: Iterable[int], count: int
    ) -> Iterator[tuple[int, Expected]]:
        spec = self._case.spec
        if not has_room_for_set(spec, available_bytes()):
            return
        for number in islice(numbers, count):
            given = change(self._sets.arrays_of(number), self._part_seed(number))
            try:
                answers = expected_of(self._case, given, self._problem)
            except (Exception, SystemExit) as error:  # of the problem's code, for inputs that it did not draw
                self.refused = one_line(str(error) or type(error).__name__, REFUSED_MAX)
                return
            yield number, answers
