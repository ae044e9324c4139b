"""The parts that replayed and inline grades share: judge, folder, deadline, result."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..adapters import calling
from ..adapters.calling import Calling
from ..adapters.detect import adapter_of
from ..errors import BenchguardError
from ..gpu.turns import WAIT_WORTH_A_NOTE, WAITING, Turns
from ..ipc.folders import temporary_folder
from ..ipc.lock_file import lock_folder
from ..judge.contract import Ask, AskThrowaway, Opened
from ..judge.process import JudgeProcess
from ..quarantine.contract import Convention, Quarantined
from ..quarantine.quarantine import quarantine
from ..quarantine.submission import Submission, submission_of
from ..replay.confined import CONTEXT_SECONDS, WaitingReplay
from ..replay.target import gpus_of, target_of
from ..shim.driver import discover
from ..shim.interposer import interposer_for
from ..shim.vendors import Api
from .opening import POOL_BYTES, Opening
from .options import GradeOptions, has_default_sets
from .progress import GradeProgress, Report
from .vendor import api_of

if TYPE_CHECKING:
    from ..inline.supervise import Inline
    from .conclusion import TimedCase
    from .result import AuditBlock, GradeResult, Trust
    from .specification import Finding

OWN_CALLING = Calling("solution", "arguments")
"""The calling of problems in the format of this package."""

PATIENCE_SECONDS = 2.0
"""If 12 input sets take longer because of their references, the other 8 are not made."""

EXAMINER = f"{__package__}.examine:examine"
SUBMISSIONS_DEVICE = 0
"""The device of a quarantine, by number (quarantine/runner/driver.py)."""


class GradeRun:
    """Base of the two kinds of grade, which define `run`.

    `stack` closes everything that is opened. `smallest`: only the problem's smallest case is graded. `began`: the time
    of the monotonic clock at which the time-out begins; None: when the shim is ready. `archives`: somebody stores the
    captures. After the grade, `graded` is the
    submission, and `captured` its captures by case, which exist until `stack` is closed.
    """

    trust: Trust = "replayed"
    calls_submission = True

    def __init__(
        self,
        problem: str,
        submission: Path,
        options: GradeOptions,
        progress: Report | None,
        stack: ExitStack,
        others: Sequence[str] = (),
        smallest: bool = False,
        began: float | None = None,
        archives: bool = False,
    ) -> None:
        self._submissions = (str(submission), *others)
        self._smallest, self._archives = smallest, archives
        self.problem, self._path, self.options = problem, submission, options
        self.progress, self._stack = progress, stack
        self._api = self.api()
        # The judge begins before the shim is looked for: a problem may take longer to open.
        self._judge = stack.enter_context(JudgeProcess(options.seconds, left=self.left))
        self._owned: set[int] = set()
        stack.callback(lambda: _close(self._owned))
        self._judge.ask(self.ask())
        if self.calls_submission:
            self._judge.ask(AskThrowaway())
        before = time.monotonic()
        self._interposer, _, _ = interposer_for(options.driver, self._api)
        now = time.monotonic()
        self._started = now if began is None else began + now - before  # without the time to build a shim
        gpus = gpus_of(discover(options.driver, api=self._api), options.device)
        self.turns = Turns(gpus, options.wait_for_gpu)
        self.seconds: dict[str, float] = {}
        self.captured: dict[str, tuple[Path, Path]] = {}
        self.graded: Submission | None = None
        self._files: dict[str, Path] = {}  # of the problem, beside the submission
        self._notes: tuple[str, ...] = ()

    def api(self) -> Api:
        """The vendor of the driver. Raises UsageError, ShimError."""
        return api_of(self.options, self._path)

    def start(self) -> tuple[JudgeProcess, Opening]:
        """The judge's process, which opens the problem."""
        self.report("opening the problem")
        opening = Opening(self._judge, self.options, self.own, self.calls_submission)
        self._stack.callback(opening.close)
        return self._judge, opening

    def quarantine(
        self,
        submission: Submission,
        opening: Opening,
        inline: Inline | None = None,
        replay: WaitingReplay | None = None,
    ) -> Quarantined:
        """Run the submission. `replay` starts beside it, and has its context on the GPU at the end.

        Raises BenchguardError if the machine has no compiler for it, or if the time before it is the reason why it ran
        out of time.
        """
        options, left = self.options, self.left()
        waiting = partial(self.report, WAITING)
        with (
            self.turns.take("alone" if inline is not None else "together", waiting) as turn,
            self.timed("quarantine"),
        ):
            ended = quarantine(
                submission,
                opening,
                interposer=self._interposer,
                folder=self.folder(),
                timeout=max(1.0, self.left()),
                memory_bytes=options.memory_limit,
                network=options.network,
                require_full=options.require_sandbox is not None,
                progress=lambda phase, case: self._quarantine_reports(phase, opening.name_of(case)),
                hidden=(_folder_of(self.problem), tempfile.gettempdir(), str(lock_folder())),
                files=self._files,
                warm_up=options.warm_up,
                machine_code=not options.cordon_device,
                inline=inline,
                examiner=EXAMINER,
                turn=turn if inline is None else None,
                policy=options.policy or ("grading" if inline is not None else "quarantine"),
                waiting=() if replay is None else (replay,),
                are_captures_kept=self._archives or options.keep is not None,
            )
            self._check_driver(ended)
            if replay is not None and turn.is_wanted():
                replay.hear(min(CONTEXT_SECONDS, self.left()))  # another grade measures when this turn ends
        if ended.timed_out and left < options.seconds / 2:
            raise BenchguardError(
                f"starting and opening the problem took {options.seconds - left:.0f} s of a time-out of "
                f"{options.seconds:g} s, and the submission ran out of the rest; raise --timeout"
            )
        if ended.broke is not None:
            from ..quarantine.lacking import lack_of  # noqa: PLC0415 - it imports the runner
            from ..replay.driver_check import check_seconds  # noqa: PLC0415

            seconds = check_seconds(options.seconds, self.left())
            if lack_of(ended.broke, submission.language, seconds):
                raise BenchguardError(f"this machine cannot compile the submission: {ended.broke.text}")
        return ended

    def _quarantine_reports(self, phase: str, case: str) -> None:
        self.report(phase, case)
        self.meanwhile(phase)

    def meanwhile(self, phase: str) -> None:
        """Called when a phase of the quarantine has begun, and this process has nothing to do."""

    def _check_driver(self, ended: Quarantined) -> None:
        """Raises BenchguardError if the submission may have failed because the driver does not work."""
        from ..replay.driver_check import BLAMED, check_driver  # noqa: PLC0415 - imported meanwhile
        from .quarantined import finding_of  # noqa: PLC0415

        finding = finding_of(ended)
        if finding is None or finding.verdict not in BLAMED:
            return
        target = target_of(self._api, self.options.driver)
        devices = SUBMISSIONS_DEVICE, self.options.device
        check = check_driver(target, *devices, timeout=self.options.seconds, left=self.left())
        if check.broken:
            raise BenchguardError(f"{check.broken}; the run before: {finding.text}")
        self._notes = tuple(filter(None, (check.doubt,)))

    def submission(self, opening: Opening) -> Submission:
        """The submission. Waits until the problem is open if only its code tells how submissions are called."""
        options = self.options
        called = OWN_CALLING if self._is_own_format() else calling(self.problem, options.adapter)
        if called is None:
            opening.find()
            opened = opening.opened
            files = {name: Path(path) for name, path in opened.files.items()}
            called = Calling(opened.entry, opened.convention, files)
        self._files = dict(called.files)
        return submission_of(
            self._path,
            options.language,
            options.entry or called.entry,
            cast(Convention, options.convention or called.convention),
        )

    def _is_own_format(self) -> bool:
        options = self.options
        kind = adapter_of(self.problem) if options.adapter == "auto" else options.adapter
        return kind == "problem"

    def ask(self) -> Ask:
        options = self.options
        return Ask(
            problem=self.problem,
            adapter=options.adapter,
            cases=options.cases,
            smallest=self._smallest,
            sets_max=options.sets,
            one_use=options.one_use,
            patience=PATIENCE_SECONDS if has_default_sets(options) else None,
            few_untimed=has_default_sets(options),
            pool_bytes=POOL_BYTES,
            seed=options.seed,
            device=options.reference_device,
            adapter_options=options.adapter_options,
            submissions=self._submissions,
            locks=str(lock_folder()),
        )

    def folder(self) -> Path:
        keep = self.options.keep
        if keep is None:
            return self._stack.enter_context(temporary_folder("neutrino-grade-"))
        keep.mkdir(parents=True, exist_ok=True)
        return keep.resolve()

    def own(self, descriptors: Sequence[int]) -> list[int]:
        """Close descriptors at the end of the grade, at the latest."""
        self._owned.update(descriptors)
        return list(descriptors)

    def close(self, descriptors: Sequence[int]) -> None:
        """Close descriptors before the end of the grade, in a thread: to free input sets of many GiB takes seconds."""
        closed = self._owned.intersection(descriptors)
        self._owned -= closed
        threading.Thread(target=_close, args=(closed,)).start()

    def left(self) -> float:
        """Seconds of the grade that are left. Waits for a turn on the GPU do not count."""
        return self._started + self.options.seconds + self.turns.waited - time.monotonic()

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Count the time of a part, without its waits for a turn on the GPU."""
        began = time.monotonic() - self.turns.waited
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.monotonic() - self.turns.waited - began

    def report(self, phase: str, case: str = "") -> None:
        if self.progress is not None:
            self.progress(GradeProgress(phase, case))

    def result(
        self,
        opened: Opened,
        submission: Submission,
        quarantined: Quarantined,
        timed: Sequence[TimedCase],
        finding: Finding | None,
    ) -> GradeResult:
        from .conclusion import Conclusion, concluded  # noqa: PLC0415 - imported meanwhile

        self.graded = submission
        done = Conclusion(opened, submission, quarantined, timed, finding)
        self.captured = done.captures_by_case()
        waited = {WAITING: self.turns.waited} if self.turns.waited >= WAIT_WORTH_A_NOTE else {}
        return concluded(
            done,
            trust=self.trust,
            notes=self._notes,
            seconds={
                **self.seconds,
                **{f"submission: {word}": took for word, took in quarantined.seconds.items()},
                **waited,
            },
            wall_s=time.monotonic() - self._started,
            audit=self._audit(quarantined),
        )

    def _audit(self, quarantined: Quarantined) -> AuditBlock | None:
        """The audit block, without a path if the log is deleted."""
        from .result import AuditBlock  # noqa: PLC0415 - imported meanwhile

        audit = quarantined.audit
        path = audit.path if self.options.keep is not None else ""
        return AuditBlock(path, audit.head, audit.records, audit.dropped, audit.complete)


def _close(descriptors: Iterable[int]) -> None:
    for each in descriptors:
        os.close(each)


def _folder_of(problem: str) -> str:
    """The problem's folder, which the submission may not read because it holds the reference."""
    path = Path(problem.partition(":")[0])
    return str((path if path.is_dir() else path.parent).resolve())
