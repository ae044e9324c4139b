"""Time two captures in turn, in blocks A B B A of judged replays on the same secret inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import BenchguardError
from ..judge.ceilings import rates_of
from ..judge.contract import AskSecrets, Secrets
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec, Returned
from ..replay.result import SampleRow
from ..replay.statistics import quantile
from .comparison import Block
from .judged_replay import judged_replay, with_slots
from .options import COMPARE_SAMPLES, GradeOptions
from .outcome import Findings, Outcome, outcome_of
from .power import Power, by_block, power_of
from .timing import carried_reason, comparable, first_use_of, is_one_use_only, reported

ORDER = (0, 1, 1, 0)
"""The side of each replay of a block. Drift of clocks and temperature cancels."""


@dataclass(frozen=True)
class Timed:
    """The capture of one side. The replay process hashes the file, so a role stays with what was graded in it.

    `returned` has the results of the submission's calls, in a case with `returns`.
    """

    path: Path
    sha256: str
    returned: Returned | None = None
    unrestored: str = ""
    """As in Findings, of its grade."""


@dataclass(frozen=True)
class Failure:
    """Why a side (0 for A, 1 for B) does not pass."""

    side: int
    outcome: Outcome


@dataclass
class Turns:
    """The replays of one case so far. `tables` has the samples of each replay, by side, in the order of the replays."""

    tables: tuple[list[Sequence[SampleRow]], list[Sequence[SampleRow]]] = field(
        default_factory=lambda: ([], [])
    )
    unrestored: tuple[str, str] = ("", "")
    """As in Timed, by side."""

    @property
    def samples(self) -> int:
        return sum(len(table) for tables in self.tables for table in tables)

    def carried(self) -> Failure | None:
        """The side that keeps results from one sample to the next, if one does.

        All samples of a side are tested at once. A test of each replay would accuse honest kernels more often, and see
        less.
        """
        for side, tables in enumerate(self.tables):
            rows = [row for table in tables for row in table]
            if reason := carried_reason(rows, first_use_of(rows)):
                return Failure(side, Outcome("violation", reason))
        return None

    def is_one_use(self, side: int) -> bool:
        """Whether a side is timed on its one-use inputs only, as a grade of all its samples would be."""
        rows = [row for table in self.tables[side] for row in table]
        return is_one_use_only(rows, self.unrestored[side])

    def power(self, value: Callable[[Power], float]) -> tuple[Block, ...]:
        """A value of the power state, block by block."""
        a, b = ([power_of(table) for table in tables] for tables in self.tables)
        return by_block(a, b, value)

    def blocks(self) -> list[Block]:
        """The medians, block by block."""
        a, b = (
            [_median(table, self.is_one_use(side)) for table in tables]
            for side, tables in enumerate(self.tables)
        )
        pairs = range(0, len(a), 2)
        return [Block(a1=a[first], b1=b[first], b2=b[first + 1], a2=a[first + 1]) for first in pairs]


def take_turns(
    case: int,
    spec: CaseSpec,
    captures: Sequence[Timed],
    judge: JudgeProcess,
    options: GradeOptions,
    blocks: int,
    report: Callable[[int], None],
) -> Turns | Failure:
    """Replay both captures of a case, 4 times a block. Ends at the first replay that does not pass.

    The judge must have been asked for `rounds=4 * blocks`. `report` is called with the number of each block. Raises
    BenchguardError for a file that is not the graded capture any more.
    """
    # Blocks have the same weight, so each replay takes all samples.
    options = replace(options, samples=options.samples or COMPARE_SAMPLES, require_converged=True)
    turns = Turns(unrestored=(captures[0].unrestored, captures[1].unrestored))
    for number in range(blocks):
        report(number)
        for side in ORDER:
            found = _turn(case, spec, captures[side], judge, options)
            if isinstance(found, Outcome):
                return Failure(side, Outcome(found.verdict, f"block {number + 1}: {found.reason}"))
            turns.tables[side].append(found)
    return turns.carried() or turns


def _turn(
    case: int, spec: CaseSpec, capture: Timed, judge: JudgeProcess, options: GradeOptions
) -> Outcome | Sequence[SampleRow]:
    judge.ask(AskSecrets(case))
    secret = with_slots(judge, case, *judge.answer(Secrets), capture.returned)
    try:
        result, checked = judged_replay(capture.path, secret, judge, options, options.seconds)
    finally:
        for each in secret.ends:
            os.close(each)
    if result.capture != capture.sha256:
        raise BenchguardError(f"{capture.path} was replaced while it was compared; compare again")
    rows = reported(result.table, capture.unrestored)
    median = quantile(sorted(row.device_us for row in rows), 0.5) if rows else None
    device = result.device.name if result.device else ""
    rates = rates_of(median, spec.flops, spec.moved_bytes, device)
    # `carried` is empty: Turns.carried() tests all replays of a side together.
    findings = Findings(result, checked if result.table else None, rates, "", capture.unrestored)
    outcome = outcome_of(findings)
    return result.table if outcome.verdict == "pass" else outcome


def _median(table: Sequence[SampleRow], one_use: bool) -> float:
    rows = [row for row in table if row.one_use] if one_use else comparable(table)
    return quantile(sorted(row.device_us for row in rows), 0.5)
