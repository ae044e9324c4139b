"""Ask the problem's own check about outputs, and measure how wide the check is.

The check is asked about the outputs of each set, beside the tolerances or instead of them. Outputs that it rejects have
room for rounding errors on other distributions than the problem's own (rounding.py). Outputs that it accepts, but that
are not near the expected ones, are changed and shown to it again (blind_check.py), and the check runs once more without
NaN (problem/lost_numbers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial
from typing import cast

from ..problem.arrays import is_torch
from ..problem.lost_numbers import SIGNS, finite_calculations
from ..problem.spec import Buffer, DType, Returned
from ..problem.suite import ReturningCase, TestCase
from .alike import far_among_alike
from .arrays import as_numbers, shaped
from .blind_check import blind_reason
from .compare import compare
from .formats import Array, is_float
from .nearby import answers_nearby
from .on_device import Device
from .reference import Expected, as_outputs
from .rounding import Factors, Rounding, Widths, largest_of, nearer, width_of
from .samples import Copy, Place, Samples
from .secret_sets import SecretSets
from .undecided import CHECK_SHARE, undecided_answer


class OwnCheck:
    """The own check of one case.

    `answers` gives the expected outputs of a set. `problem` is held while the problem's code runs. `parts` are up to
    `threads` threads that compare parts of one output.
    """

    def __init__(
        self,
        case: TestCase,
        sets: SecretSets,
        answers: Callable[[int], Expected],
        problem: AbstractContextManager[object],
        parts: Executor,
        threads: int,
    ) -> None:
        self._case, self._sets, self._answers, self._problem = case, sets, answers, problem
        self._parts, self._threads = parts, threads
        self._rounding = Rounding(case, self._own_sets, problem)
        self._device = Device(getattr(case, "check_device", "cpu"))
        self._places: Sequence[Place] = ()
        self._returned: Returned | None = None
        self._factors: list[float] = []
        self.undecided: set[int] = set()
        """As in Samples."""
        self._is_beyond_room = False

    def begin(self, places: Sequence[Place], returned: Returned | None) -> None:
        """Begin a round, with the submission's outputs. `returned`: None for a case without `returns`."""
        self._places, self._returned = places, returned
        self._factors.clear()
        self.undecided = set()
        self._is_beyond_room = False

    @property
    def largest_factor(self) -> float:
        """The largest factor for roundings with which the check accepted outputs of this round; 1 if none."""
        return max(self._factors, default=1.0)

    def verdict(self, number: int, copy: Copy, is_near: bool) -> str | None:
        """The problem's own verdict on one set's outputs: None, or why they are wrong.

        `is_near`: the outputs are right by the set's tolerances.
        """
        self._sets.check_unchanged(number)
        if not self._case.has_own_check:
            return None
        reason = self.ask(number, copy)
        if reason is not None and self._is_excused(number, copy):
            return None
        if reason is not None or self._are_near(number, copy, is_near):
            return reason
        return self._unseen_reason(number, copy)

    def _unseen_reason(self, number: int, copy: Copy) -> str | None:
        """Why outputs are wrong whose numbers the check does not see; None if it sees them."""
        answers = self._answers(number)
        buffers, given = self._case.spec.checked, [each.buffer for each in self._places]
        right = as_outputs(buffers, answers)
        inputs = self._sets.arrays_of(number)
        look = partial(self._look, number)
        if self._device.finds_nothing(look, inputs, (given, copy), (buffers, right)):
            return None
        return look(inputs, copy, right)

    def _look(self, number: int, inputs: Mapping[str, Array], copy: Copy, right: Copy) -> str | None:
        return blind_reason(
            number,
            (
                [each.buffer for each in self._places],
                copy,
                lambda outputs: self.ask(number, outputs, inputs) is None,
            ),
            (
                self._case.spec.checked,
                right,
                lambda outputs: self.ask_of_right(number, outputs, inputs) is None,
            ),
            self._case.tolerances,
        ) or self._lost_reason(number, inputs, copy, right)

    def _lost_reason(self, number: int, inputs: Mapping[str, Array], copy: Copy, right: Copy) -> str | None:
        """Why outputs are wrong that the check accepts only because it computes NaN or Inf; None if they are not."""
        for sign in SIGNS:
            try:
                with finite_calculations(sign) as watch:
                    is_accepted = self.ask(number, copy, inputs) is None
                if watch.count == 0:
                    return None
                with finite_calculations(sign):
                    is_unseen = not is_accepted and self.ask_of_right(number, right, inputs) is None
            except (Exception, SystemExit):  # of a check that numbers of ours surprise
                continue
            if is_unseen:
                return (
                    "the problem's check accepts these outputs only because it computes NaN or Inf from them: with "
                    "finite numbers instead it rejects them, and accepts the right ones"
                )
        return None

    def ask(self, number: int, copy: Copy, inputs: Mapping[str, Array] | None = None) -> str | None:
        """The answer of the problem's own check. Its arrays are numpy's, on the host, and read-only, or tensors on the
        device of the check (on_device.py). `inputs`: None for those of the set."""
        if self._returned is None:
            return self.ask_of_right(number, copy, inputs)
        actual = {each.buffer.name: _for_check(each.buffer, copy[each.buffer.name]) for each in self._places}
        inputs = self._sets.arrays_of(number) if inputs is None else inputs
        with self._problem:
            return cast(ReturningCase, self._case).verify_returned(inputs, self._returned.tree, actual)

    def ask_of_right(self, number: int, copy: Copy, inputs: Mapping[str, Array] | None = None) -> str | None:
        """As ask(), for outputs with the dtypes and the structure of the reference's."""
        spec = self._case.spec
        actual = {each.name: _for_check(each, copy[each.name]) for each in spec.checked}
        inputs = self._sets.arrays_of(number) if inputs is None else inputs
        expected = shaped(spec, self._answers(number))
        with self._problem:
            return self._case.verify(inputs, expected, actual)

    def ask_of_all(self, samples: Samples, beside: Executor) -> None:
        """Show the first outputs of each set to the problem's own check, several sets at once.

        A check that fails beside others is made again alone: the memory of a GPU is not planned. A check that rejects
        outputs may have failed, too, because an exception is a reason. So it is asked about these again, alone, until
        it rejects one of them alone, too.
        """
        numbers = [
            number
            for number, state in enumerate(samples.sets)
            if state.same and state.mismatch is None and not self._sets.plan.is_streamed(number)
        ]

        def ask(number: int) -> str | None:
            state = samples.sets[number]
            return self.verdict(number, state.copy, state.is_near)

        def ask_beside(number: int) -> tuple[bool, str | None]:
            """Whether the check ended, and its answer."""
            try:
                return True, ask(number)
            except (Exception, SystemExit):
                return False, None

        is_rejected = False
        for number, (is_known, answer) in zip(numbers, list(beside.map(ask_beside, numbers)), strict=True):
            is_final = is_known and (answer is None or is_rejected)
            if not is_rejected:
                self._is_beyond_room = False
            reason = answer if is_final else ask(number)
            is_rejected = is_rejected or reason is not None
            if reason is not None:
                state = samples.sets[number]
                state.mismatch = samples.mismatch(state.sample, number, reason)

    def room(self, number: int) -> Iterator[Factors]:
        """By how much a set's tolerances may be wider for roundings, least first (rounding.py).

        The problem's own distribution has such room only for default tolerances: others the author chose for it.
        """
        inputs, expected = self._sets.arrays_of(number), self._answers(number)
        if not self._sets.is_own(number):
            return self._rounding.factors(inputs, expected, self._widths(number))
        return iter(()) if self._case.has_own_check else self._rounding.factors_of_defaults(inputs, expected)

    def _are_near(self, number: int, copy: Copy, is_near: bool) -> bool:
        """Whether outputs are right by the tolerances of their dtypes, so that a check which accepts them saw them.

        `is_near` is the answer for the set's tolerances, and so for the dtypes' where the set has no factors. Outputs
        that are a few roundings off are right, too: those of a long cumulative sum are more than the numbers in it
        that are near zero.
        """
        has_factors = bool(self._sets.factors[number])
        if is_near and not has_factors:
            return True
        answers = self._answers(number)
        return all(
            self._is_near(each, copy[each.buffer.name], answers[each.buffer.name], has_factors)
            for each in self._places
        )

    def _is_near(self, place: Place, actual: Array, expected: Array, by_tolerance: bool) -> bool:
        dtype = place.buffer.dtype
        if not place.is_comparable:
            return False
        if far_among_alike(dtype, actual, cast(DType, expected.dtype.name), expected) is not None:
            return True
        tolerance = self._case.tolerances[place.buffer.name]
        return (by_tolerance or not is_float(dtype)) and not compare(
            actual, expected, dtype, tolerance, pool=self._parts, threads=self._threads
        ).wrong

    def _is_excused(self, number: int, copy: Copy) -> bool:
        """Whether roundings explain outputs that the problem's own check rejects.

        Once they do not, no other output is looked at: that takes runs of the reference, and the verdict is known.
        """
        if not self._is_beyond_room and (self._is_in_room(number, copy) or self._is_undecided(number)):
            return True
        self._is_beyond_room = True
        return False

    def _is_in_room(self, number: int, copy: Copy) -> bool:
        """Whether the problem's own check accepts outputs once their errors are divided by the room for roundings."""
        if not all(each.is_comparable for each in self._places):
            return False
        answers = self._answers(number)
        for factors in self.room(number):
            moved = dict(copy)
            for place in self._places:
                name = place.buffer.name
                if name in factors:
                    moved[name] = nearer(place.buffer, copy[name], answers[name], factors[name])
            if factors and self.ask(number, moved) is None:
                self._factors.append(largest_of(factors))
                return True
        return False

    def _is_undecided(self, number: int) -> bool:
        """Whether a set with wrong outputs does not count (undecided.py)."""
        if self._sets.is_own(number):
            return False
        case, inputs, expected = self._case, self._sets.arrays_of(number), self._answers(number)
        answers = answers_nearby(case, inputs, self._problem)
        answer = undecided_answer(case, self._sets.factors[number], expected, answers, CHECK_SHARE)
        if answer is None or self._accepts(number, as_outputs(case.spec.checked, answer)):
            return False
        self.undecided.add(number)
        return True

    def _widths(self, number: int) -> Widths:
        """How wide the problem's own check is on a set, if it alone decides."""
        if not self._case.own_verdict:
            return {}
        buffers, answers, tolerances = self._case.spec.checked, self._answers(number), self._case.tolerances
        right = as_outputs(buffers, answers)

        def accepts(name: str, moved: Array) -> bool:
            return self._accepts(number, {**right, name: moved})

        return {
            each.name: width_of(each, answers[each.name], tolerances[each.name], partial(accepts, each.name))
            for each in buffers
            if is_float(each.dtype)
        }

    def _accepts(self, number: int, outputs: Copy) -> bool:
        try:
            return self.ask_of_right(number, outputs) is None
        except (Exception, SystemExit):  # of the problem's check, for outputs that it need not accept
            return False

    def _own_sets(self) -> Iterator[tuple[Mapping[str, Array], Expected, Widths]]:
        """Inputs and expected outputs of the problem's own distribution that stay in memory."""
        for number in self._sets.own_in_memory():
            yield self._sets.arrays_of(number), self._answers(number), self._widths(number)


def _for_check(buffer: Buffer, flat: Array) -> Array:
    return flat.reshape(buffer.shape) if is_torch(flat) else as_numbers(buffer, flat)
