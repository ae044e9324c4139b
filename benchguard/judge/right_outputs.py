"""Look at the right outputs of a case: what shows that the call computes them, and in which precision it does.

unchanged.py, unseen.py, other_inputs.py, constants.py and precision.py say how. This module gives them the sets, the
outputs, and the problem's own check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from ..problem.spec import Buffer, Form, Returned
from ..problem.suite import TestCase
from .arrays import elements_of
from .compare import compare
from .constants import SHARE as CONSTANTS_SHARE
from .constants import constants_reason
from .formats import Array, is_float, numpy_dtype
from .nearby import answers_nearby
from .other_inputs import (
    DRAWN,
    SHARE,
    Drawn,
    Outputs,
    disturbed,
    drawn,
    numbers_of,
    other_inputs_reason,
    pairs_of,
)
from .own_check import OwnCheck
from .precision import errors_of, note
from .reference import as_output
from .samples import Copy, Place, Samples
from .secret_sets import SecretSets
from .slack import baseline_of, in_own_precision, widened
from .unchanged import unchanged_reason
from .unseen import At, unseen_reason, unseen_share, unseen_shares, with_others

Pair = tuple[int, Callable[[], Mapping[str, Array]]]
"""A set, and what gives other answers than those that are expected for it: for large outputs they take memory."""


@dataclass(frozen=True)
class Unshown:
    """Why nothing shows that the call computes its outputs; empty if they show it. `unseen` is unseen_shares()'s."""

    reason: str
    unseen: Mapping[str, float]


class RightOutputs:
    """The right outputs of one case. `own_check` is the problem's, and `part_seed` and `problem` are Narrowing's."""

    def __init__(
        self,
        case: TestCase,
        sets: SecretSets,
        own_check: OwnCheck,
        part_seed: Callable[[int], int],
        problem: AbstractContextManager[object],
    ) -> None:
        self._case, self._sets, self._own_check = case, sets, own_check
        self._part_seed, self._problem = part_seed, problem

    def unchanged(self, copies: Mapping[int, Copy], returned: Returned | None) -> str:
        """Why results in an input's memory do not show that the call computes them; empty if they show it.

        `copies` has the submission's outputs by set.
        """
        known = [number for number, each in enumerate(self._sets.expected) if each and copies.get(number)]

        def is_right(number: int, buffer: Buffer, form: Form, elements: Array) -> bool:
            return self._accepts(copies[number], number, buffer, form, elements)

        return unchanged_reason(self._case.spec, returned, known, self._sets.memory_of, is_right)

    def unshown(self, samples: Samples, copies: Mapping[int, Copy]) -> Unshown:
        """Whether the numbers of the outputs show that the call computes them."""
        numbers = [each for each in self._sets.own_in_memory() if copies.get(each)]
        drawn_numbers = sum(min(DRAWN, math.prod(each.buffer.shape)) for each in samples.places)
        pairs = [
            (number, partial(samples.expected.__getitem__, other))
            for number, other in pairs_of(numbers, drawn_numbers)
        ]
        outputs = self._drawn(samples, samples.places, copies, pairs)
        unseen = self._unseen(samples, pairs, outputs) if self._case.own_verdict and pairs else {}
        reason = (
            unseen_reason(unseen)
            or self._of_others(samples, copies, pairs, outputs)
            or self._of_inputs(samples, copies, numbers)
            or self._constants(samples, copies, numbers)
        )
        return Unshown(reason, unseen)

    def _unseen(
        self, samples: Samples, pairs: Sequence[Pair], outputs: Sequence[Outputs]
    ) -> Mapping[str, float]:
        shown = self._part_seed(0) % len(pairs)
        shows = partial(self._shows, samples, pairs[shown][0])
        return unseen_shares(outputs, self._case.tolerances, shown, shows, self._part_seed(len(pairs)))

    def _shows(self, samples: Samples, number: int, name: str, at: At) -> bool:
        """Whether the problem's own check rejects the right answer with other numbers in these places."""
        expected = samples.expected[number]
        buffers = {each.name: each for each in self._case.spec.checked}
        right = {each: as_output(buffer, expected[each]) for each, buffer in buffers.items()}
        if not is_float(buffers[name].dtype):
            return True
        changed = with_others(buffers[name], expected[name], at)
        return not all(self._accepts_right(number, {**right, name: each}) for each in changed)

    def _drawn(
        self, samples: Samples, places: Sequence[Place], copies: Mapping[int, Copy], pairs: Sequence[Pair]
    ) -> list[Outputs]:
        seed = self._part_seed(len(pairs))
        return [
            drawn(places, copies[number], (samples.expected[number], others()), self._case.tolerances, seed)
            for number, others in pairs
        ]

    def _of_inputs(self, samples: Samples, copies: Mapping[int, Copy], numbers: Sequence[int]) -> str:
        """Why numbers near to those before the call, in a buffer that it changes, do not show that it computes them."""
        changed = {each.name: each for each in self._case.spec.read if each.role == "inout"}
        places = [each for each in samples.places if each.buffer.name in changed]

        if not places:
            return ""

        def before(number: int) -> Mapping[str, Array]:
            return {name: self._before(number, buffer) for name, buffer in changed.items()}

        pairs = [(number, partial(before, number)) for number in numbers]
        outputs = self._drawn(samples, places, copies, pairs)
        return self._of_others(samples, copies, pairs, outputs, "the numbers before the call")

    def _before(self, number: int, buffer: Buffer) -> Array:
        """The numbers of an input, flat: a view of a set's memory, if numpy has their dtype."""
        flat = elements_of(buffer, self._sets.memory_of(number, buffer.name)).reshape(-1)
        return flat if flat.dtype == numpy_dtype(buffer.dtype) else numbers_of(buffer.dtype, flat)

    def _of_others(
        self,
        samples: Samples,
        copies: Mapping[int, Copy],
        pairs: Sequence[Pair],
        outputs: Sequence[Outputs],
        other: str = "the answer to other inputs",
    ) -> str:
        """Why numbers near to other answers do not show that the call computes them."""
        sets, tolerances = self._sets, self._case.tolerances

        def within(at: int) -> Outputs:
            number, others = pairs[at]
            if self._case.own_verdict:
                if not self._accepts_disturbed(samples, copies[number], number, others()):
                    return []
                return [self._seen(samples, number, each, SHARE) for each in outputs[at]]
            accepted = widened(tolerances, sets.factors[number])
            return [each.within(accepted[each.place.buffer.name]) for each in outputs[at]]

        of_each = len(pairs) // max(1, len({number for number, _ in pairs}))
        return other_inputs_reason(
            outputs, within, lambda at: self._in_other_roundings(pairs[at][0]), of_each, other
        )

    def _constants(self, samples: Samples, copies: Mapping[int, Copy], numbers: Sequence[int]) -> str:
        """Why numbers that are the same in all sets do not show that the call computes them."""

        def accepted(output: Drawn) -> Drawn:
            if not self._case.own_verdict:
                return output
            return self._seen(samples, numbers[0], output, CONSTANTS_SHARE)

        return constants_reason(
            samples.places,
            [copies[each] for each in numbers],
            [samples.expected[each] for each in numbers],
            self._case.tolerances,
            self._part_seed(len(numbers)),
            accepted,
            lambda: self._in_other_roundings(numbers[0]),
        )

    def _seen(self, samples: Samples, number: int, output: Drawn, share: float) -> Drawn:
        """Count none of an output's numbers if no more than `share` are counted and seen by the problem's own check."""
        if output.share <= share:
            return output
        name = output.place.buffer.name
        unseen = unseen_share(
            output.at[output.counted], partial(self._shows, samples, number, name), self._part_seed(number)
        )
        if (1 - unseen) * output.share > share:
            return output
        return replace(output, counted=np.zeros_like(output.counted))

    def precision(self, samples: Samples) -> str:
        """The note on precision, from the problem's own distribution only: others are chosen to be difficult."""
        numbers = [each for each in self._sets.own_in_memory() if samples.sets[each].same]
        if not numbers:
            return ""
        baseline = baseline_of(self._case, self._sets.arrays_of(numbers[0]), self._problem)
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

    def _accepts(self, copy: Copy, number: int, buffer: Buffer, form: Form, elements: Array) -> bool:
        """Whether elements are right for a buffer, as a part of the submission's outputs of a set."""
        if self._case.own_verdict:
            try:
                return self._own_check.ask(number, {**copy, buffer.name: elements}) is None
            except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
                return False
        expected = self._sets.expected[number][buffer.name]
        if form.dtype != buffer.dtype or elements.shape != expected.shape:
            return False
        tolerance = widened(self._case.tolerances, self._sets.factors[number])[buffer.name]
        return not compare(elements, expected, buffer.dtype, tolerance).wrong

    def _accepts_disturbed(
        self, samples: Samples, copy: Copy, number: int, others: Mapping[str, Array]
    ) -> bool:
        """Whether the problem's own check accepts errors as large as those of an output, in any direction."""
        expected = samples.expected[number]
        buffers = {each.name: each for each in self._case.spec.checked}
        given = {name: as_output(each, expected[name]) for name, each in buffers.items()}
        for place in samples.places:
            name = place.buffer.name
            if name in others and place.is_comparable and is_float(place.expected):
                pair = expected[name], others[name]
                moved = disturbed(place.buffer.dtype, copy[name], pair, self._part_seed(number))
                given[name] = as_output(buffers[name], moved)
        return self._accepts_right(number, given)

    def _accepts_right(self, number: int, given: Copy) -> bool:
        """Whether the problem's own check accepts outputs with the dtypes of the reference's."""
        try:
            return self._own_check.ask_of_right(number, given) is None
        except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
            return False

    def _in_other_roundings(self, number: int) -> Iterator[Mapping[str, Array]]:
        """The reference's answers in the submission's precision, or else to inputs a few roundings away."""
        arrays = self._sets.arrays_of(number)
        try:
            given = in_own_precision(self._case, arrays, self._problem)
        except (Exception, SystemExit):  # of the problem's code
            given = {}
        own = {
            each.name: numbers_of(each.dtype, given[each.name])
            for each in self._case.spec.checked
            if each.name in given
        }
        yield from [own] if own else islice(answers_nearby(self._case, arrays, self._problem), 2)
