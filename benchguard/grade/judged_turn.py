"""One replay of a side of a comparison, on secret inputs and judged as in a grade."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import BenchguardError
from ..judge.ceilings import rates_of
from ..judge.contract import AskSecrets, Secrets
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec, Returned
from ..replay.relay import Relay
from ..replay.statistics import quantile
from .judged_replay import judged_replay, with_slots
from .options import COMPARE_SAMPLES, GradeOptions
from .outcome import Findings, Outcome, outcome_of
from .time_tests import TimeTests
from .timing import reported
from .turns import Replayed


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


@dataclass
class JudgedTurn:
    """Replays a side of case number `case`. The judge must have been asked for all rounds.

    `asked`: the judge has been asked for the secret inputs of the next replay.
    """

    case: int
    spec: CaseSpec
    captures: Sequence[Timed]
    judge: JudgeProcess
    options: GradeOptions
    relay: Relay
    asked: bool = False

    def __call__(self, side: int) -> Outcome | Replayed:
        """Raises BenchguardError for a file that is not the graded capture any more."""
        capture = self.captures[side]
        # Blocks have the same weight, so each replay takes all samples.
        samples = self.options.samples or COMPARE_SAMPLES
        options = replace(self.options, samples=samples, require_converged=True)
        if not self.asked:
            self.judge.ask(AskSecrets(self.case))
        self.asked = False
        secret = with_slots(self.judge, self.case, *self.judge.answer(Secrets), capture.returned)
        try:
            result, checked = judged_replay(
                capture.path, secret, self.judge, options, options.seconds, relay=self.relay, following=1
            )
        finally:
            for each in secret.ends:
                os.close(each)
        if result.capture != capture.sha256:
            raise BenchguardError(f"{capture.path} was replaced while it was compared; compare again")
        table = TimeTests(result, capture.unrestored).table
        rows = reported(table, capture.unrestored)
        median = quantile(sorted(row.device_us for row in rows), 0.5) if rows else None
        device = result.device.name if result.device else ""
        rates = rates_of(median, self.spec.flops, self.spec.moved_bytes, device)
        # `carried` is empty: Turns.carried() tests all replays of a side together.
        findings = Findings(result, checked if result.table else None, rates, "", capture.unrestored)
        outcome = outcome_of(findings)
        return Replayed.of(table, result.overhead) if outcome.verdict == "pass" else outcome
