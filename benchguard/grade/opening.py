"""A problem that is being opened, and what is asked of the judge meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..judge.contract import AskSecrets, Opened, Throwaway
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec
from ..quarantine.late import Given
from .options import GradeOptions

AHEAD_BYTES = 4 << 30
"""Input sets are made for so many cases while the submission is recorded; for the others between replays, never
during one."""

POOL_BYTES = 1 << 30


class Opening:
    """The problem, from when it is asked for. `find` waits until it is open, in whatever thread; `own` is given what
    is to be closed at the end."""

    def __init__(
        self, judge: JudgeProcess, options: GradeOptions, own: Callable[[Sequence[int]], list[int]]
    ) -> None:
        self._judge, self._options, self._own = judge, options, own
        self._opened: Opened | None = None
        self.ahead = 0

    @property
    def opened(self) -> Opened:
        assert self._opened is not None
        return self._opened

    def find(self) -> Given:
        """The throw-away inputs. Secret ones are asked for, so that they are made while the submission is recorded."""
        opened, _ = self._judge.answer(Opened)
        throwaway, descriptors = self._judge.answer(Throwaway)
        self.ahead = ahead_of(opened.cases, self._options)
        for index in range(self.ahead):
            self._judge.ask(AskSecrets(index))
        self._opened = opened
        return Given(opened.cases, throwaway, self._own(descriptors)[0])

    def name_of(self, case: int) -> str:
        return self._opened.cases[case].name if self._opened and 0 <= case < len(self._opened.cases) else ""


def ahead_of(cases: Sequence[CaseSpec], options: GradeOptions) -> int:
    """For how many cases inputs are made while the submission is recorded: at least one."""
    total = count = 0
    for spec in cases:
        total += min(POOL_BYTES, (options.sets + options.one_use) * sum(each.bytes for each in spec.buffers))
        if count and total > AHEAD_BYTES:
            break
        count += 1
    return count
