"""Grade a submission to a problem: quarantine, replay, judge, verdict."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ..errors import UsageError
from ..judge.contract import Secrets
from ..problem.spec import CaseSpec
from .case import CaseWork, grade_case
from .inline import InlineRun
from .opening import Opening
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
        submission = self.submission(opening)
        found = self.quarantine(submission, opening)
        opened, ahead = opening.opened, opening.ahead
        finding = finding_of(found)
        if finding is not None:
            return self.result(opened, submission, found, (), finding)
        prepared = [self._secrets(opening, index) for index in range(ahead)]
        cases: list[TimedCase] = []
        for index, spec in enumerate(opened.cases):
            if index >= ahead:
                prepared.append(self._secrets(opening, index))
            work = CaseWork(index, spec, found, *prepared[index], self.left())
            with self.timed("replay"):
                cases.append(grade_case(work, judge, self.options, self._progress_of(spec)))
            for part, took in cases[-1].seconds.items():
                self.seconds[part] = self.seconds.get(part, 0.0) + took
            if cases[-1].case.verdict != "pass":
                break
        return self.result(opened, submission, found, cases, None)

    def _secrets(self, opening: Opening, index: int) -> tuple[Secrets, tuple[int, int, int, int]]:
        """Wait for secret inputs and references. No replay is timed while the judge makes them."""
        with self.timed("references"):
            self.report("computing references", opening.name_of(index))
            secrets, (pool, outputs, announce, release) = opening.secrets(index)
        return secrets, (pool, outputs, announce, release)

    def _progress_of(self, spec: CaseSpec) -> Callable[[str, int, float | None], None]:
        def report(phase: str, samples: int, median_us: float | None) -> None:
            if self.progress is not None:
                self.progress(GradeProgress(phase, spec.name, samples, median_us))

        return report
