"""Open a problem in the judge process while the submission is imported or compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..judge.contract import AskSecrets, Opened, Secrets, Throwaway
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec
from ..quarantine.contract import Cases
from .options import GradeOptions

AHEAD_BYTES = 4 << 30
"""Input sets of up to this size are made while the submission is recorded; the others are made between replays, never
during one."""

POOL_BYTES = 1 << 30


class Opening:
    """A problem that the judge opens. `find` waits for it, in any thread; `own` closes descriptors at the end."""

    def __init__(
        self, judge: JudgeProcess, options: GradeOptions, own: Callable[[Sequence[int]], list[int]]
    ) -> None:
        self._judge, self._options, self._own = judge, options, own
        self._opened: Opened | None = None
        self._cases: Cases | None = None
        self.ahead = 0

    @property
    def opened(self) -> Opened:
        assert self._opened is not None
        return self._opened

    def find(self) -> Cases:
        """The cases and their throw-away inputs.

        Asks for the secret inputs of the first cases, so that they are made while the submission is recorded.
        """
        if self._cases is not None:
            return self._cases
        opened, _ = self._judge.answer(Opened)
        throwaway, descriptors = self._judge.answer(Throwaway)
        self.ahead = ahead_of(opened.cases, self._options)
        for index in range(self.ahead):
            self._judge.ask(AskSecrets(index))
        self._opened = opened
        (inputs,) = self._own(descriptors)
        self._cases = Cases(
            opened.cases, throwaway.layouts, throwaway.offsets, inputs, opened.init, opened.tensors
        )
        return self._cases

    def secrets(self, index: int) -> tuple[Secrets, list[int]]:
        """The secret inputs of a case. Cases are asked for in their order."""
        if index >= self.ahead:
            self._judge.ask(AskSecrets(index))
        secrets, ends = self._judge.answer(Secrets)
        return secrets, self._own(ends)

    def name_of(self, case: int) -> str:
        return self._opened.cases[case].name if self._opened and 0 <= case < len(self._opened.cases) else ""


def ahead_of(cases: Sequence[CaseSpec], options: GradeOptions) -> int:
    """The number of cases whose inputs are made while the submission is recorded: at least one."""
    total = count = 0
    for spec in cases:
        total += min(POOL_BYTES, (options.sets + options.one_use) * sum(each.bytes for each in spec.buffers))
        if count and total > AHEAD_BYTES:
            break
        count += 1
    return count
