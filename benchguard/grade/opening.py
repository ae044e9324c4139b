"""Open a problem in the judge process while the submission is imported or compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence

from ..judge.contract import AskSecrets, AskThrowaway, Opened, Secrets, Throwaway
from ..judge.process import JudgeProcess
from ..problem.ranking import UNTIMED_SETS, timed_cases
from ..problem.spec import CaseSpec
from ..quarantine.contract import Batch, Cases
from .options import GradeOptions, has_default_sets

AHEAD_BYTES = 4 << 30
"""Input sets of up to this size are made while the submission is recorded; the others are made between replays, never
during one."""

POOL_BYTES = 1 << 30


class Opening:
    """A problem that the judge opens. `find` waits for it, in any thread; `own` closes descriptors at the end.

    `is_called`: a submission is called on throw-away inputs, for whose first batch the judge has been asked.
    """

    def __init__(
        self,
        judge: JudgeProcess,
        options: GradeOptions,
        own: Callable[[Sequence[int]], list[int]],
        is_called: bool = True,
    ) -> None:
        self._judge, self._options, self._own = judge, options, own
        self._opened: Opened | None = None
        self._asked = 0 if is_called else -1
        """The first case of the batch for which the judge has been asked; -1: for none."""
        self._held: list[tuple[Batch, int]] = []
        self.ahead = 0

    @property
    def opened(self) -> Opened:
        assert self._opened is not None
        return self._opened

    def find(self) -> Cases:
        """The cases."""
        if self._opened is None:
            self._opened, _ = self._judge.answer(Opened)
            if self._asked < 0:
                self._ask_ahead()
        return Cases(self._opened.cases, self._opened.init, self._opened.tensors)

    def throwaway(self, first: int) -> tuple[Batch, int]:
        """The batch of throw-away inputs that begins with case `first`, and its memfd, which the caller closes.

        Behind the last one it asks for the secret inputs of the first cases, so that they are made while the
        submission is recorded.
        """
        if self._held:
            return self._held.pop(0)
        if self._asked != first:
            self._judge.ask(AskThrowaway(first))
        self._asked = -1
        found, (inputs,) = self._judge.answer(Throwaway)
        batch = Batch(first, found.layouts, found.offsets)
        if batch.end == len(self.opened.cases):
            self._ask_ahead()
        return batch, inputs

    def hold(self) -> None:
        """Make all throw-away inputs now, where the judge has to answer other questions before a submission runs."""
        held: list[tuple[Batch, int]] = []
        while not held or held[-1][0].end < len(self.opened.cases):
            held.append(self.throwaway(held[-1][0].end if held else 0))
        self._held = held

    def close(self) -> None:
        """Close what hold() made and nobody took."""
        while self._held:
            os.close(self._held.pop()[1])

    def _ask_ahead(self) -> None:
        timed = timed_cases([each.name for each in self.opened.cases], self.opened.ranking)
        self.ahead = ahead_of(self.opened.cases, timed, self._options)
        for index in range(self.ahead):
            self._judge.ask(AskSecrets(index))

    def secrets(self, index: int) -> tuple[Secrets, list[int]]:
        """The secret inputs of a case. Cases are asked for in their order."""
        if index >= self.ahead:
            self._judge.ask(AskSecrets(index))
        secrets, ends = self._judge.answer(Secrets)
        return secrets, self._own(ends)

    def name_of(self, case: int) -> str:
        return self._opened.cases[case].name if self._opened and 0 <= case < len(self._opened.cases) else ""


def ahead_of(cases: Sequence[CaseSpec], timed: Collection[str], options: GradeOptions) -> int:
    """The number of cases whose inputs are made while the submission is recorded: at least one.

    `timed`: the names of those whose times count. The others have fewer sets.
    """
    total = count = 0
    for spec in cases:
        is_less = spec.name not in timed and has_default_sets(options)
        sets = 2 * UNTIMED_SETS if is_less else options.sets + options.one_use
        total += min(POOL_BYTES, sets * sum(each.bytes for each in spec.buffers))
        if count and total > AHEAD_BYTES:
            break
        count += 1
    return count
