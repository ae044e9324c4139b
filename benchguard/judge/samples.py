"""Check the outputs of a case's samples.

The first outputs of each input set are copied to private memory, then compared with the expected outputs. Most kernels
are deterministic, so later outputs are compared with that copy bit by bit, which is fast. Only outputs that differ from
the copy are compared with the expected outputs, and shown to the problem's own check. If it alone decides, outputs that
differ by a few roundings (alike.py) are not shown to it as a whole: only their numbers that are far off are, in the
place of the copy's, those of all samples at once.

A comparison of two submissions has many rounds on the same sets: first outputs that were right in an earlier round are
right again, and need no copy.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..ipc.shared_memory import Bytes
from ..ipc.slots import Rest, SlotError
from ..problem.spec import Buffer, CaseSpec, DType, Layout, Tolerance
from .alike import far_among_alike
from .arrays import elements_of, flat_copy, same_bits
from .compare import Comparison, compare
from .contract import Mismatch
from .formats import Array, decoded, is_float
from .nearby import Output, are_few, is_right_nearby
from .rounding import Factors, largest_of, nearer
from .streaming import Stream

Copy = Mapping[str, Array]
"""Outputs by buffer, row-major and flat, as stored."""

Far = Mapping[str, tuple[Array, Array]]
"""By buffer, places and the numbers there, as stored."""

Second = Callable[[int, Copy, bool], str | None]
"""The problem's own verdict on a set's outputs: None, or why they are wrong. The last argument is `is_near`."""

Nearby = Callable[[int], Iterable[Mapping[str, Array]]]
"""The reference's answers to inputs that are a few roundings away from those of a set (nearby.py)."""

Room = Callable[[int], Iterable[Factors]]
"""By output and element, by how much the tolerances of a set may be wider for roundings, least first (rounding.py)."""


@dataclass(frozen=True)
class Judged:
    """Outputs of a set against the expected ones.

    `is_near`: all elements are comparable and within the set's tolerances. `rounded`: the number of elements that
    rounding decides (nearby.py). `factor`: of the tolerances that accept the others (rounding.py); mostly 1.
    `is_undecided`: the outputs are wrong, but their set does not count (undecided.py).
    """

    mismatch: Mismatch | None
    is_near: bool
    max_absolute: float
    max_relative: float
    rounded: int
    factor: float
    is_undecided: bool = False


@dataclass(frozen=True)
class Right:
    """Outputs of a set that were right in an earlier round."""

    places: Sequence[Place]
    copy: Copy
    judged: Judged


PUT_OFF_BYTES = 1 << 30
"""Outputs that wait for the problem's own check until the samples have ended."""

RIGHT_MAX = 2
"""Right outputs of a set that are kept: those of the two sides of a comparison."""


@dataclass
class SetState:
    """`copied` is set when `copy` exists.

    `is_near`: all elements of the copy are comparable and within the set's tolerances.
    """

    copied: threading.Event = field(default_factory=threading.Event)
    copy: Copy = field(default_factory=dict)
    sample: int = 0
    same: list[int] = field(default_factory=list)
    """The samples that are right if `copy` is, the first one included."""
    differing: set[int] = field(default_factory=set)
    """The samples with other bits."""
    is_near: bool = False
    mismatch: Mismatch | None = None
    max_absolute: float = 0.0
    max_relative: float = 0.0
    far: dict[int, Far] = field(default_factory=dict)
    """By sample that is right if `copy` is, but for these numbers, which are far off."""


@dataclass(frozen=True)
class Place:
    """An output, the offset of its memory in a slot, and the dtype of its expected elements."""

    buffer: Buffer
    offset: int
    expected: DType

    @property
    def is_comparable(self) -> bool:
        """Whether errors have a meaning. A problem's own check may accept integers in place of floats."""
        both = is_float(self.buffer.dtype) and is_float(self.expected)
        return both or self.buffer.dtype == self.expected


def places_of(spec: CaseSpec, outputs: Layout) -> tuple[Place, ...]:
    return tuple(Place(each, outputs.places[each.name][0], each.dtype) for each in spec.checked)


class Samples:
    """The samples of one case. `tolerances` has those of each set.

    `own` is asked beside the tolerances; with `own_decides` it alone decides. `is_undecided` tells whether a set with
    wrong outputs does not count. Methods are thread-safe; call `first` once per set, before its calls of `later` end.
    """

    def __init__(
        self,
        places: Sequence[Place],
        slots: Sequence[Bytes],
        tolerances: Sequence[Mapping[str, Tolerance]],
        expected: Sequence[Mapping[str, Array]],
        distributions: Sequence[str],
        own: Second | None,
        nearby: Nearby,
        room: Room,
        parts: Executor,
        threads: int,
        stream: Stream | None = None,
        right: Sequence[list[Right]] = (),
        *,
        own_decides: bool = False,
        is_undecided: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self.places = places
        self._slots = [_views(places, slot) for slot in slots]
        self._tolerances = list(tolerances)
        self.expected = list(expected)
        self._distributions = distributions
        self._own, self._own_decides = own, own_decides
        self._ask_undecided = is_undecided
        self._nearby, self._room = nearby, room
        self._parts = parts
        self._threads = threads
        self._stream = stream
        self._right = right
        self._lock = threading.Lock()
        self._doubts = threading.BoundedSemaphore(max(1, threads // 2))
        """Held while wrong outputs are looked at again, by half of the threads at most. Others wait, because they need
        not be once these stay wrong."""
        self.sets = [SetState() for _ in expected]
        self.wrong_later: list[Mismatch] = []
        self.decided_by_rounding = 0
        self.rounding_factor = 1.0
        self.undecided: set[int] = set()
        """The sets that do not count, although their outputs are wrong (undecided.py)."""
        self._is_wrong = False
        self._questions: list[Callable[[], Mismatch | None]] = []
        self._put_off_bytes = 0

    def prepare(
        self, of_set: int, expected: Mapping[str, Array], tolerances: Mapping[str, Tolerance]
    ) -> None:
        """Take the expected outputs of a streamed set, before its sample."""
        self.expected[of_set], self._tolerances[of_set] = expected, tolerances

    def first(self, number: int, of_set: int, slot: int, release: Callable[[], None]) -> Rest:
        """Take the first sample of a set, and return its check. Calls `release` once `slot` is read."""
        state = self.sets[of_set]
        if not self.expected[of_set]:
            raise SlotError(f"input set {of_set} before it was drawn")
        try:
            known = self._known(of_set, slot)
            state.copy, state.sample = self._copy(slot) if known is None else known.copy, number
            with self._lock:
                state.same.append(number)
        finally:
            state.copied.set()  # even if copying failed, so that waiting threads fail instead of hanging
        release()
        return lambda: self._check_first(number, of_set, known)

    def _check_first(self, number: int, of_set: int, known: Right | None) -> None:
        state = self.sets[of_set]
        judged = self._judge(number, of_set, state.copy) if known is None else known.judged
        self._add(judged, of_set)
        state.mismatch, state.is_near = judged.mismatch, judged.is_near
        if known is None and self._right and judged.mismatch is None:
            self._right[of_set].append(Right(self.places, state.copy, judged))
        if self._stream is not None and self._stream.has(of_set):
            self._end_streamed(number, of_set, state)
            self._stream.next(of_set)

    def _known(self, of_set: int, slot: int) -> Right | None:
        """Outputs with the same bits that were right in an earlier round."""
        if not self._right:
            return None
        del self._right[of_set][:-RIGHT_MAX]
        alike = (each for each in self._right[of_set] if each.places == self.places)
        return next((each for each in alike if self._same(slot, each.copy)), None)

    def _add(self, judged: Judged, of_set: int) -> None:
        state = self.sets[of_set]
        with self._lock:
            if judged.is_undecided:
                self.undecided.add(of_set)
            state.max_absolute = max(state.max_absolute, judged.max_absolute)
            state.max_relative = max(state.max_relative, judged.max_relative)
            self.decided_by_rounding += judged.rounded
            self.rounding_factor = max(self.rounding_factor, judged.factor)

    def _end_streamed(self, number: int, of_set: int, state: SetState) -> None:
        """Ask the problem's own check while the inputs are still there, and free the set's memory."""
        if state.mismatch is None and self._own is not None:
            state.mismatch = self._ask_own(number, of_set, state.copy, is_near=state.is_near)
        state.copy = self.expected[of_set] = {}

    def later(self, number: int, of_set: int, slot: int, release: Callable[[], None]) -> Rest | None:
        """Take another sample of a set, and return its check, if it has one of its own.

        Waits until the first one is copied.
        """
        state = self.sets[of_set]
        state.copied.wait()
        if self._same(slot, state.copy):
            release()
            with self._lock:
                state.same.append(number)
            return None
        far = self._far(slot, state.copy) if self._own is not None else None
        is_known = far is not None and self._own_decides
        copy = {} if is_known else self._copy(slot)
        release()
        with self._lock:
            state.differing.add(number)
            if is_known:
                state.same.append(number)
            if far and is_known:
                state.far[number] = far
        is_alike = far is not None and not far
        return None if is_known else lambda: self._check_later(number, of_set, copy, is_alike=is_alike)

    def _check_later(self, number: int, of_set: int, copy: Copy, *, is_alike: bool) -> None:
        judged = self._judge(number, of_set, copy)
        self._add(judged, of_set)
        mismatch = judged.mismatch
        if mismatch is None and self._own is not None and not is_alike:
            asked = partial(self._ask_own, number, of_set, copy, is_near=judged.is_near)
            if self._put_off(asked, sum(each.nbytes for each in copy.values())):
                return
            mismatch = asked()
        if mismatch is not None:
            with self._lock:
                self.wrong_later.append(mismatch)

    def _ask_own(self, number: int, of_set: int, copy: Copy, *, is_near: bool) -> Mismatch | None:
        assert self._own is not None
        reason = self._own(of_set, copy, is_near)
        return None if reason is None else self.mismatch(number, of_set, reason)

    def _put_off(self, ask: Callable[[], Mismatch | None], size: int) -> bool:
        """Whether a question can wait until the samples have ended: the check may use the GPU that times them."""
        with self._lock:
            if self._put_off_bytes + size > PUT_OFF_BYTES:
                return False
            self._put_off_bytes += size
            self._questions.append(ask)
        return True

    def ask_rest(self) -> None:
        """Ask the questions that were put off. Call it after the last sample."""
        while self._questions:
            mismatch = self._questions.pop(0)()
            if mismatch is not None:
                self.wrong_later.append(mismatch)
        for of_set, state in enumerate(self.sets):
            if state.far and state.mismatch is None:
                self._ask_far(of_set, state)

    def _ask_far(self, of_set: int, state: SetState) -> None:
        """Ask about the copy with the numbers that were far off in later samples.

        At first with those of all samples at once. Where several samples are far off at one place, with the lowest and
        with the highest number there: a check that accepts both accepts those between.
        """
        copies = (_with_far(state.copy, each) for each in self._joined(state.far.values()))
        if all(self._ask_own(state.sample, of_set, each, is_near=state.is_near) is None for each in copies):
            return
        for number, far in state.far.items():
            mismatch = self._ask_own(number, of_set, _with_far(state.copy, far), is_near=state.is_near)
            if mismatch is not None:
                state.same.remove(number)
                self.wrong_later.append(mismatch)

    def _joined(self, far: Collection[Far]) -> list[Far]:
        """The numbers of all samples: the lowest ones at their places, and the highest where a place has several."""
        lowest, highest, most = {}, {}, 1
        for place in self.places:
            name = place.buffer.name
            parts = [each[name] for each in far if name in each]
            if not parts:
                continue
            at, numbers = map(np.concatenate, zip(*parts, strict=True))
            order = np.lexsort((decoded(place.buffer.dtype, numbers), at))
            places, start, count = np.unique(at[order], return_index=True, return_counts=True)
            lowest[name] = places, numbers[order][start]
            highest[name] = places, numbers[order][start + count - 1]
            most = max(most, int(count.max()))
        return [lowest, highest] if most > 1 else [lowest]

    def mismatch(self, number: int, of_set: int, reason: str) -> Mismatch:
        """A mismatch according to the problem's own verdict."""
        buffer = self.places[0].buffer
        return Mismatch(number, of_set, self._distributions[of_set], buffer.name, 0, _count(buffer), reason)

    def _judge(self, number: int, of_set: int, copy: Copy) -> Judged:
        """Compare by the tolerances. If the problem's own check alone decides, there is no mismatch."""
        outputs = []
        for place in self.places:
            buffer = place.buffer
            if not place.is_comparable:
                continue
            tolerance = self._tolerances[of_set][buffer.name]
            comparison = self._compared(of_set, buffer, copy[buffer.name], tolerance)
            outputs.append(Output(buffer, copy[buffer.name], tolerance, comparison))
        wrong = [each for each in outputs if each.comparison.wrong]
        mismatch, rounded, factor, is_undecided = None, 0, 1.0, False
        if wrong and not self._own_decides:
            with self._doubts:
                factor = self._factor(of_set, wrong)
                is_right = factor == 1 and self._is_right_nearby(of_set, wrong)
                is_undecided = factor == 1 and not is_right and self._is_undecided(of_set)
            if is_right:
                rounded = sum(each.comparison.wrong for each in wrong)
            elif factor == 1 and not is_undecided:
                buffer, comparison = wrong[0].buffer, wrong[0].comparison
                mismatch = Mismatch(
                    number,
                    of_set,
                    self._distributions[of_set],
                    buffer.name,
                    comparison.wrong,
                    comparison.elements,
                    mismatch_text(buffer, comparison),
                )
        return Judged(
            mismatch,
            is_near=not wrong and len(outputs) == len(self.places),
            max_absolute=max((each.comparison.max_absolute for each in outputs), default=0.0),
            max_relative=max((each.comparison.max_relative for each in outputs), default=0.0),
            rounded=rounded,
            factor=factor,
            is_undecided=is_undecided,
        )

    def _factor(self, of_set: int, wrong: Sequence[Output]) -> float:
        """The factor of tolerances with room for rounding errors that accept the wrong outputs; 1 if none do."""
        for factors in () if self._is_wrong else self._room(of_set):
            if all(
                each.buffer.name in factors and self._is_right_within(of_set, each, factors) for each in wrong
            ):
                return largest_of(factors)
        return 1.0

    def _is_right_within(self, of_set: int, output: Output, factors: Factors) -> bool:
        name = output.buffer.name
        moved = nearer(output.buffer, output.actual, self.expected[of_set][name], factors[name])
        return self._compared(of_set, output.buffer, moved, output.tolerance).wrong == 0

    def _is_right_nearby(self, of_set: int, wrong: Sequence[Output]) -> bool:
        """Whether rounding decides the wrong elements.

        Once a sample is wrong, no other is looked at: that takes runs of the reference, and the verdict is known.
        """
        is_few = not self._is_wrong and are_few(wrong)
        return is_few and is_right_nearby(wrong, self.expected[of_set], self._nearby(of_set))

    def _is_undecided(self, of_set: int) -> bool:
        """Whether a set with wrong outputs does not count. If it does, no other wrong sample is looked at again."""
        if not self._is_wrong and self._ask_undecided(of_set):
            return True
        self._is_wrong = True
        return False

    def _compared(self, of_set: int, buffer: Buffer, actual: Array, tolerance: Tolerance) -> Comparison:
        expected = self.expected[of_set][buffer.name]
        return compare(
            actual,
            expected,
            buffer.dtype,
            tolerance,
            pool=self._parts,
            threads=self._threads,
            counts=not self._own_decides,
        )

    def _copy(self, slot: int) -> Copy:
        return {name: flat_copy(view) for name, view in self._slots[slot]}

    def _same(self, slot: int, copy: Copy) -> bool:
        return all(same_bits(view, copy[name]) for name, view in self._slots[slot])

    def _far(self, slot: int, copy: Copy) -> Far | None:
        """The numbers that are far off in outputs that differ from a copy by roundings only; None for other outputs."""
        views, found = dict(self._slots[slot]), {}
        for place in self.places:
            name, dtype = place.buffer.name, place.buffer.dtype
            numbers = views[name].reshape(-1)
            far = far_among_alike(dtype, numbers, dtype, copy[name])
            if far is None and not same_bits(views[name], copy[name]):
                return None
            if far is not None and len(far):
                found[name] = far, numbers[far]
        return found


def _with_far(copy: Copy, far: Far) -> Copy:
    made = dict(copy)
    for name, (at, numbers) in far.items():
        made[name] = copy[name].copy()
        made[name][at] = numbers
    return made


def _views(places: Sequence[Place], slot: Bytes) -> list[tuple[str, Array]]:
    """A view of each output's elements in a slot."""
    return [
        (each.buffer.name, elements_of(each.buffer, slot[each.offset : each.offset + each.buffer.bytes]))
        for each in places
    ]


def mismatch_text(buffer: Buffer, comparison: Comparison) -> str:
    """Message: index, expected and actual value of the first wrong element, and the number of wrong elements."""
    assert comparison.first is not None
    index, expected, actual = comparison.first
    place = (
        ", ".join(str(int(each)) for each in np.unravel_index(index, buffer.shape)) if buffer.shape else ""
    )
    element = f"{buffer.name}[{place}]" if buffer.shape else buffer.name  # a number has no index
    of = f"{comparison.wrong} of {comparison.elements} elements are wrong"
    return f"{element} should be {_number(expected)}, is {_number(actual)}; {of}"


def _number(value: float) -> str:
    return f"{value:.9g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def _count(buffer: Buffer) -> int:
    return math.prod(buffer.shape)
