"""Grade a submission to a problem: quarantine, replay, judge, verdict."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ..errors import UsageError
from ..judge.contract import AskSecrets, Secrets
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec
from .case import CaseWork, grade_case
from .inline import InlineRun
from .options import GradeOptions
from .progress import GradeProgress, Report
from .quarantined import finding_of
from .result import GradeResult
from .run import GradeRun, TimedCase


def grade(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    options: GradeOptions | None = None,
    *,
    version: str,
    progress: Report | None = None,
) -> GradeResult:
    """The verdict on `submission`, a file or a folder, as an answer to `problem`, PATH[:NAME].

    Raises UsageError for what cannot be asked, ProblemError for a problem that is none, ShimError without a driver,
    BenchguardError for this machine's failures; all that a submission does is a verdict.
    """
    options = options or GradeOptions()
    if not 1 <= options.timeout < 1e6:
        raise UsageError(f"a time-out of {options.timeout:g} s cannot be; give seconds, from 1")
    if options.inline and options.flush_cache:
        raise UsageError(
            "inline there are no copies of the code to empty caches with; leave --flush-cache out"
        )
    with ExitStack() as stack:
        kind = InlineRun if options.inline else ReplayedRun
        return kind(str(problem), Path(submission), options, version, progress, stack).run()


class ReplayedRun(GradeRun):
    """Recorded in the quarantine, timed in a clean process."""

    def run(self) -> GradeResult:
        judge, opening = self.start()
        usual = self.is_usual()
        given = opening.find if usual else opening.find()
        submission = self.submission(None if usual else opening)
        found = self.quarantine(submission, given, opening)
        opened, ahead = opening.opened, opening.ahead
        finding = finding_of(found)
        if finding is not None:
            return self.result(opened, submission, found, (), finding)
        prepared = [self._secrets(judge, spec) for spec in opened.cases[:ahead]]
        cases: list[TimedCase] = []
        for index, spec in enumerate(opened.cases):
            if index >= ahead:
                judge.ask(AskSecrets(index))
                prepared.append(self._secrets(judge, spec))
            work = CaseWork(index, spec, found, *prepared[index], self.left())
            with self.timed("replay"):
                cases.append(grade_case(work, judge, self.options, self._progress_of(spec)))
            for part, took in cases[-1].seconds.items():
                self.seconds[part] = self.seconds.get(part, 0.0) + took
            if cases[-1].case.verdict != "pass":
                break
        return self.result(opened, submission, found, cases, None)

    def _secrets(self, judge: JudgeProcess, spec: CaseSpec) -> tuple[Secrets, tuple[int, int, int, int]]:
        """Asked for before; nothing is timed while they are made."""
        with self.timed("references"):
            self.report("computing references", spec.name)
            secrets, ends = judge.answer(Secrets)
        return secrets, _four(self.own(ends))

    def _progress_of(self, spec: CaseSpec) -> Callable[[str, int, float | None], None]:
        def report(phase: str, samples: int, median_us: float | None) -> None:
            if self.progress is not None:
                self.progress(GradeProgress(phase, spec.name, samples, median_us))

        return report


def _four(ends: list[int]) -> tuple[int, int, int, int]:
    pool, outputs, announce, release = ends
    return pool, outputs, announce, release
