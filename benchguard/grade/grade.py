"""Grade a submission to a problem: quarantine, replay, judge, verdict."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from ..adapters.detect import adapter_of
from ..errors import UsageError
from ..interpose import interposer_for
from ..judge.contract import Ask, AskSecrets, AskThrowaway, Opened, Secrets, Throwaway
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec
from ..quarantine.contract import Convention, Quarantined
from ..quarantine.late import Given
from ..quarantine.quarantine import quarantine
from ..quarantine.submission import Submission, submission_of
from ..replay.clocks import Clocks
from .case import CaseWork, Replayed, grade_case
from .options import GradeOptions
from .progress import GradeProgress, Report
from .quarantined import finding_of
from .result import SCHEMA, AuditBlock, GradedCase, GradeResult, Sandbox, Source, Verdict
from .specification import Finding

AHEAD_BYTES = 4 << 30
"""Input sets are made for so many cases while the submission is recorded; for the others between replays, never
during one."""

POOL_BYTES = 1 << 30


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
    if options.inline:
        raise UsageError("inline timing is graded by grade_inline")
    if not 1 <= options.timeout < 1e6:
        raise UsageError(f"a time-out of {options.timeout:g} s cannot be; give seconds, from 1")
    with ExitStack() as stack:
        return _Grade(str(problem), Path(submission), options, version, progress, stack).run()


class _Opening:
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
        self.ahead = _ahead(opened.cases, self._options)
        for index in range(self.ahead):
            self._judge.ask(AskSecrets(index))
        self._opened = opened
        return Given(opened.cases, throwaway, self._own(descriptors)[0])

    def name_of(self, case: int) -> str:
        return self._opened.cases[case].name if self._opened and 0 <= case < len(self._opened.cases) else ""


class _Grade:
    def __init__(
        self,
        problem: str,
        submission: Path,
        options: GradeOptions,
        version: str,
        progress: Report | None,
        stack: ExitStack,
    ) -> None:
        self._problem, self._path, self._options = problem, submission, options
        self._version, self._progress, self._stack = version, progress, stack
        self._started = time.monotonic()
        self._deadline = self._started + options.timeout
        self._seconds: dict[str, float] = {}

    def run(self) -> GradeResult:
        options = self._options
        folder = self._folder()
        judge = self._stack.enter_context(JudgeProcess(timeout=options.timeout))
        judge.ask(self._ask())
        judge.ask(AskThrowaway())
        interposer, _, _ = interposer_for(options.driver)
        opening = _Opening(judge, options, self._own)
        submission, given = self._submission_of(opening)
        self._report("opening the problem")
        with self._timed("quarantine"):
            found = quarantine(
                submission,
                given,
                interposer=interposer,
                folder=folder,
                timeout=max(1.0, self._left()),
                memory_bytes=options.memory_bytes,
                network=options.network,
                require_full=options.require_sandbox,
                progress=lambda phase, case: self._report(phase, opening.name_of(case)),
                hidden=(_folder_of(self._problem),),
                warm_up=options.warm_up,
            )
        opened, ahead = opening.opened, opening.ahead
        finding = finding_of(found)
        if finding is not None:
            return self._result(opened, submission, found, (), finding)
        prepared = [self._secrets(judge, spec) for spec in opened.cases[:ahead]]
        cases: list[Replayed] = []
        for index, spec in enumerate(opened.cases):
            if index >= ahead:
                judge.ask(AskSecrets(index))
                prepared.append(self._secrets(judge, spec))
            secrets, ends = prepared[index]
            work = CaseWork(index, spec, found, secrets, ends, self._left())
            with self._timed("replay"):
                cases.append(grade_case(work, judge, options, self._progress_of(spec)))
            for part, took in cases[-1].seconds.items():
                self._seconds[part] = self._seconds.get(part, 0.0) + took
            if cases[-1].case.verdict != "pass":
                break
        return self._result(opened, submission, found, cases, None)

    def _submission_of(self, opening: _Opening) -> tuple[Submission, Given | Callable[[], Given]]:
        """What is to be recorded, and on what. It is begun with before the problem is open, if that does not say how
        a submission is called."""
        options = self._options
        usual = (
            adapter_of(self._problem) == "problem"
            if options.adapter == "auto"
            else options.adapter == "problem"
        )
        given: Given | Callable[[], Given] = opening.find if usual else opening.find()
        entry, convention = (
            ("solution", "arguments") if usual else (opening.opened.entry, opening.opened.convention)
        )
        submission = submission_of(
            self._path,
            options.language,
            options.entry or entry,
            cast(Convention, options.convention or convention),
        )
        return submission, given

    def _secrets(self, judge: JudgeProcess, spec: CaseSpec) -> tuple[Secrets, tuple[int, int, int, int]]:
        """Asked for before; nothing is timed while they are made."""
        with self._timed("references"):
            self._report("computing references", spec.name)
            secrets, ends = judge.answer(Secrets)
        return secrets, _four(self._own(ends))

    def _ask(self) -> Ask:
        options = self._options
        return Ask(
            problem=self._problem,
            adapter=options.adapter,
            cases=options.cases,
            sets_max=options.sets,
            fresh=options.one_use,
            pool_bytes=POOL_BYTES,
            seed=options.seed,
            device=options.reference_device,
            adapter_options=options.adapter_options,
        )

    def _folder(self) -> Path:
        keep = self._options.keep
        if keep is None:
            return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="neutrino-grade-")))
        try:
            keep.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make the folder {keep}: {error.strerror}; name another") from error
        return keep.resolve()

    def _own(self, descriptors: Sequence[int]) -> list[int]:
        """Closed at the end."""
        for each in descriptors:
            self._stack.callback(os.close, each)
        return list(descriptors)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds[part] = self._seconds.get(part, 0.0) + time.monotonic() - began

    def _report(self, phase: str, case: str = "") -> None:
        if self._progress is not None:
            self._progress(GradeProgress(phase, case))

    def _progress_of(self, spec: CaseSpec) -> Callable[[str, int, float | None], None]:
        def report(phase: str, samples: int, median_us: float | None) -> None:
            if self._progress is not None:
                self._progress(GradeProgress(phase, spec.name, samples, median_us))

        return report

    def _result(
        self,
        opened: Opened,
        submission: Submission,
        found: Quarantined,
        replayed: Sequence[Replayed],
        finding: Finding | None,
    ) -> GradeResult:
        cases = tuple(each.case for each in replayed)
        failed = next((case for case in cases if case.verdict != "pass"), None)
        verdict: Verdict = "pass"
        reason = ""
        if finding is not None:
            verdict, reason = finding.verdict, finding.text
        elif failed is not None:
            verdict, reason = failed.verdict, f"case {failed.name}: {failed.reason}"
        clocks = next((case.clocks for case in cases if case.clocks is not None), None)
        return GradeResult(
            schema=SCHEMA,
            verdict=verdict,
            reason=reason,
            trust="replayed",
            problem=opened.name,
            submission=Source(
                str(submission.path), submission.language, submission.entry, found.submission_sha256
            ),
            cases=cases,
            kernels=tuple(dict.fromkeys(kernel for case in cases for kernel in case.kernels)),
            device=next((each.device for each in replayed if each.device is not None), None),
            clocks=clocks or Clocks("no case was timed"),
            sandbox=Sandbox(found.confined, dict(found.confinement)),
            audit=AuditBlock(**vars(found.audit)),
            settings=next((each.settings for each in replayed if each.settings is not None), None),
            notes=_notes(opened, cases, found),
            output=found.output,
            seconds={
                **self._seconds,
                **{f"submission: {word}": took for word, took in found.seconds.items()},
            },
            wall_s=time.monotonic() - self._started,
            version=self._version,
        )


def _notes(opened: Opened, cases: Sequence[GradedCase], found: Quarantined) -> tuple[str, ...]:
    """What a reader of the verdict should know beside it."""
    notes = []
    missing = [f"{name} ({why})" for name, why in found.confinement.items() if why != "on"]
    if missing:
        notes.append(f"the quarantine lacks: {'; '.join(missing)}")
    if cases and len(cases) < len(opened.cases):
        notes.append(
            f"{len(opened.cases) - len(cases)} of {len(opened.cases)} cases were not graded after that"
        )
    for case in cases:
        notes += [f"case {case.name}: {note}" for note in case.notes]
        if case.checks is not None and case.checks.precision:
            notes.append(f"case {case.name}: {case.checks.precision}")
        if case.checks is not None and case.checks.nondeterministic:
            notes.append(
                f"case {case.name}: outputs differ in their bits from sample to sample, within the tolerances "
                "(atomics, races)"
            )
    return tuple(notes)


def _ahead(cases: Sequence[CaseSpec], options: GradeOptions) -> int:
    """For how many cases inputs are made while the submission is recorded: at least one."""
    total = count = 0
    for spec in cases:
        total += min(POOL_BYTES, (options.sets + options.one_use) * sum(each.bytes for each in spec.buffers))
        if count and total > AHEAD_BYTES:
            break
        count += 1
    return count


def _folder_of(problem: str) -> str:
    """What the submission may not even read: a problem's folder holds its reference."""
    path = Path(problem.partition(":")[0])
    return str((path if path.is_dir() else path.parent).resolve())


def _four(ends: list[int]) -> tuple[int, int, int, int]:
    pool, ring, announce, release = ends
    return pool, ring, announce, release
