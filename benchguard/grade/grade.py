"""Grade a submission to a problem: quarantine, replay, judge, verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..adapters import check_options
from ..errors import UsageError
from ..gpu.exclusive import is_exclusive
from ..judge.contract import Opened, Secrets
from ..judge.process import JudgeProcess
from ..problem.ranking import timed_cases
from ..problem.returned import replayed_case
from ..problem.spec import CaseSpec
from ..quarantine.contract import Quarantined
from ..quarantine.quarantine import READING
from ..quarantine.start import check_unreadable
from ..quarantine.submission import check_outside
from ..replay.relay import Relay
from ..replay.target import check_device, target_of
from ..shim.driver import Driver, discover
from ..toolchain.freshness import check_is_current
from .opening import Opening
from .options import PLACEMENTS, SIM_PLACEMENTS, SIM_SAMPLES, UNTIMED_SAMPLES, GradeOptions
from .progress import GradeProgress, Report
from .run import GradeRun
from .vendor import api_of

if TYPE_CHECKING:
    from .archive import Archived
    from .case import CaseWork
    from .conclusion import TimedCase
    from .inline import InlineRun
    from .result import GradeResult


def grade(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    progress: Report | None = None,
    **changes: Any,
) -> GradeResult:
    """Judge and time a submission to a problem.

        benchguard.grade("problem.py", "submission.cu", samples=200).verdict

    The submission runs in a sandbox, where two calls are captured. The captures are replayed on secret inputs in a
    process that runs none of the submission's host code, and every timed output is compared with the problem's
    reference.

    Args:
        problem: PATH or PATH:NAME of the problem, in the format `options.adapter`. Its code is trusted.
        submission: path of a .py, .cu, .ptx or .hip file, or of a folder. Its code is not trusted.
        options: how to grade.
        progress: called with each phase of each case.
        changes: fields of GradeOptions by name, in place of those in `options`.

    Returns:
        The verdict with its reason, and for each case the time in microseconds (`time_us`), the number of wrong
        outputs (`checks`) and the kernels that ran. Whatever the submission does is a verdict, not an exception.

    Raises:
        UsageError: an option is invalid, or a path does not exist.
        ProblemError: the problem's code failed or declares an invalid case.
        ShimError: the driver is missing, or its shim cannot be built.
        BenchguardError: this machine failed, or the judge process did.
        TypeError: `changes` names no field of GradeOptions.
    """
    return graded(problem, submission, replace(options, **changes), progress).result


def grade_into(
    archive: str | os.PathLike[str],
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    progress: Report | None = None,
) -> Archived:
    """As grade(), and store a bundle in the folder `archive`, which regrade() verifies later.

    Args:
        archive: folder of the archive. Several processes may write it at the same time.
        problem: as in grade().
        submission: as in grade().
        options: as in grade().
        progress: as in grade().

    Returns:
        The result and the bundle's id, or why there is no bundle.

    Raises:
        UsageError: as grade(), and for an archive that submissions could read.
        BenchguardError: as grade(), and for an archive that cannot be written.
    """
    return graded(problem, submission, options, progress, archive=Path(archive))


def graded(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    options: GradeOptions,
    progress: Report | None,
    *,
    archive: Path | None = None,
    began: float | None = None,
) -> Archived:
    """As grade(), and as grade_into() with an `archive`.

    `began`: the time of the monotonic clock at which the time-out begins; None: now. A command has spent time on its
    imports before this call, several seconds of it on a loaded machine.
    """
    for each in (archive, options.keep):
        if each is not None:
            check_unreadable(each)
    if archive is not None:
        from ..archive import Store  # noqa: PLC0415

        check_outside(archive, [submission])
        Store(archive)
    return _graded(problem, submission, (), options, progress, archive, began)


def grade_beside(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    others: Sequence[str],
    options: GradeOptions,
    progress: Report | None,
) -> GradeResult:
    """As grade(). The judge imports none of the `others` either: they are submissions, too."""
    return _graded(problem, submission, others, options, progress, None, None).result


def _graded(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    others: Sequence[str],
    options: GradeOptions,
    progress: Report | None,
    archive: Path | None,
    began: float | None,
) -> Archived:
    began = time.monotonic() if began is None else began
    options = options.limited(str(problem))
    check_inputs(options, problem, submission)
    if options.forbid_library or options.allow_images:
        if progress is not None:
            progress(GradeProgress("indexing the code of installed libraries"))
        before = time.monotonic()
        from .provenance import searched  # noqa: PLC0415 - its reader of libraries takes 30 ms to import

        searched(options.forbid_library, options.allow_images)
        began += time.monotonic() - before  # a first index takes a while
    driver = discover(options.driver, api=api_of(options, submission))
    options = for_driver(options, driver)
    smallest = driver.is_sim and not options.cases
    with ExitStack() as stack:
        kind, archives = _kind_of(options), archive is not None
        run = kind(
            str(problem), Path(submission), options, progress, stack, others, smallest, began, archives
        )
        result = run.run()
        from .archive import Archived, Evidence, archived  # noqa: PLC0415 - imported meanwhile

        if archive is None or run.graded is None:
            return Archived(result)
        if progress is not None:
            progress(GradeProgress("storing the bundle"))
        return archived(archive, Evidence(str(problem), run.graded, run.captured, options, result))


def _kind_of(options: GradeOptions) -> type[ReplayedRun | InlineRun]:
    if not options.inline:
        return ReplayedRun
    from .inline import InlineRun  # noqa: PLC0415 - a replayed grade needs none of it

    return InlineRun


def for_driver(options: GradeOptions, driver: Driver) -> GradeOptions:
    """The options with the CPU driver's defaults, if that is the driver.

    These are SIM_SAMPLES samples, unless the user chose their number or a stop rule, and caches as they are. Raises
    UsageError if the driver has no such device: before the submission runs, which may take minutes.
    """
    check_device(driver, options.device)
    if not driver.is_sim:
        return options
    chosen = options.samples is not None or options.until is not None or options.require_converged
    samples = options.samples if chosen else SIM_SAMPLES
    cold = options.cold if options.inline else options.cold or "none"
    return replace(options, samples=samples, cold=cold)


def untimed(options: GradeOptions) -> GradeOptions:
    """The options for a case whose time does not count, with few samples unless the user chose their number."""
    chosen = options.samples is not None or options.until is not None
    return replace(
        options,
        samples=options.samples if chosen else UNTIMED_SAMPLES,
        warm_up_samples=1 if options.warm_up_samples is None else options.warm_up_samples,
    )


def _is_timed(opened: Opened, index: int) -> bool:
    """Whether a case's time is of interest: kernelbot ranks the benchmarks of a task, and only checks its tests."""
    names = [each.name for each in opened.cases]
    return names[index] in timed_cases(names, opened.ranking)


def check_inputs(
    options: GradeOptions, problem: str | os.PathLike[str], *submissions: str | os.PathLike[str]
) -> None:
    """Raises UsageError for paths and options that cannot be used, and for paths that are open to submissions.

    Raises ShimError if the native libraries have to be built again. None of the submissions' code has run before.
    """
    check_is_current()
    path = Path(problem)
    if not path.exists() and not Path(str(problem).rpartition(":")[0] or path).exists():
        raise UsageError(f"the problem {path} does not exist; give PATH or PATH:NAME")
    check_options(str(problem), options.adapter, options.adapter_options)
    api_of(options, *submissions)
    if options.keep is not None:
        check_outside(options.keep, submissions)
        try:
            options.keep.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot create the folder {options.keep}: {error.strerror}; name another folder"
            ) from error


OF_SUBMISSION = {"import", "compile", READING}
"""Phases of which the first has contexts made for the replay, on a GPU that several processes may use: that takes up to
0.7 s. On the CPU driver it takes no time, and the submission needs the processors."""


class ReplayedRun(GradeRun):
    """A grade that captures calls in the quarantine and times a replay in a clean process."""

    _relay: Relay | None = None
    _processes = 1
    _context_from: Collection[str] = ()

    def run(self) -> GradeResult:
        judge, opening = self.start()
        submission = self.submission(opening)
        target = target_of(self._api, self.options.driver)
        sandbox = self.options.require_sandbox or "any"
        sim, shared = target.driver.is_sim, not is_exclusive(self.turns.gpus)
        wanted = self.options.placements or (SIM_PLACEMENTS if sim else PLACEMENTS)
        self._processes = wanted if shared else 1
        self._context_from = OF_SUBMISSION if shared and not sim else {READING}
        self._relay = self._stack.enter_context(
            Relay(target, self.options.device, sandbox, processes=self._processes)
        )
        quarantined = self.quarantine(submission, opening, replay=self._relay.this)
        opened, ahead = opening.opened, opening.ahead
        from .case import grade_case  # noqa: PLC0415 - imported meanwhile
        from .quarantined import finding_of  # noqa: PLC0415

        finding = finding_of(quarantined)
        if finding is not None:
            return self.result(opened, submission, quarantined, (), finding)
        prepared = [self._secrets(opening, index) for index in range(ahead)]
        cases: list[TimedCase] = []
        for index in range(len(opened.cases)):
            if index >= ahead:
                prepared.append(self._secrets(opening, index))
            work = self._work(opened, judge, quarantined, index, prepared[index])
            with self.timed("replay"):
                options = self.options if work.is_timed else untimed(self.options)
                cases.append(grade_case(work, judge, options, self._progress_of(opened.cases[index])))
            self.close(work.secret.ends)
            for part, took in cases[-1].seconds.items():
                self.seconds[part] = self.seconds.get(part, 0.0) + took
            if cases[-1].case.verdict != "pass":
                break
        return self.result(opened, submission, quarantined, cases, None)

    def meanwhile(self, phase: str) -> None:
        """Import the rest: numpy and the tests of times alone take 0.1 s, which the submission's process needs, too."""
        from . import archive, case, conclusion  # noqa: F401, PLC0415

        if phase in self._context_from and self._relay is not None:
            self._relay.this.open_driver()

    def _secrets(self, opening: Opening, index: int) -> tuple[Secrets, list[int]]:
        """Wait for secret inputs and references. No replay is timed while the judge makes them."""
        with self.timed("references"):
            self.report("computing references", opening.name_of(index))
            return opening.secrets(index)

    def _work(
        self,
        opened: Opened,
        judge: JudgeProcess,
        found: Quarantined,
        index: int,
        secrets: tuple[Secrets, list[int]],
    ) -> CaseWork:
        from .case import CaseWork  # noqa: PLC0415
        from .judged_replay import with_slots  # noqa: PLC0415

        (sets, ends), spec = secrets, opened.cases[index]
        returned = found.returned[index] if spec.returns is not None else None
        secret = with_slots(judge, index, sets, ends, returned)
        self.own([each for each in secret.ends if each not in ends])
        replayed = replayed_case(spec, returned) if returned is not None else spec
        return CaseWork(
            replayed,
            found,
            secret,
            opened.tolerances[index],
            self.left(),
            self.turns,
            self._relay,
            len(opened.cases) - index - 1,
            self._api,
            self._processes_of(opened, index),
            self._processes_of(opened, index + 1),
            _is_timed(opened, index),
        )

    def _processes_of(self, opened: Opened, index: int) -> int:
        """How many processes take a case's samples: 1 for a test whose time is not ranked, 0 after the last case."""
        if index == len(opened.cases):
            return 0
        return self._processes if self.options.placements or _is_timed(opened, index) else 1

    def _progress_of(self, spec: CaseSpec) -> Callable[[str, int, float | None], None]:
        def report(phase: str, samples: int, median_us: float | None) -> None:
            if self.progress is not None:
                self.progress(GradeProgress(phase, spec.name, samples, median_us))

        return report
