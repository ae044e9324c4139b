"""Run a submission in the sandbox and under the shim, and pack the raw captures that it leaves."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from ..audit.log import LogWriter
from ..audit.selection import ByProgram
from ..audit.session import Session
from ..audit.supervise import ChildOptions, Recorded, Run, supervise
from ..errors import BenchguardError
from ..gpu.turns import Turn
from ..inline.supervise import Inline
from ..ipc.deadline import Deadline
from ..ipc.text import printable
from ..policy import Cordon, cordon_for
from ..problem.returned import ReturnedError, replayed_cases
from ..shim.interposer import Interposer
from ..toolchain.paths import HIP_BRIDGE
from ..version import __version__
from .attend import Attendant
from .cases import CaseSender, CaseSource
from .contract import FIRST_PHASES, Audit, Confine, Order, Quarantined, Reading
from .events import Events, Progress
from .group import Group
from .pause import Pause
from .private import Private, private, readable_interposer
from .raw_captures import Packed, Reader, read_all
from .reader import replayed_regions
from .sandbox import environment, identity
from .start import Sandbox, command, request
from .submission import Submission, is_altered
from .trouble import confinement_of, trouble_of
from .waiting import Waiting
from .watch import Watch, check_disk

PACKAGE = Path(__file__).resolve().parents[1]

AUDIT_LOG = "audit.jsonl"
READING = "reading the captures"
"""The phase after the submission has ended."""

READER_PROCESSES = 256
"""Threads that compress and processes that decompress, with room to spare."""


def quarantine(
    submission: Submission,
    source: CaseSource,
    *,
    interposer: Interposer,
    folder: Path,
    timeout: float,
    memory_bytes: int,
    network: bool = False,
    require_full: bool = False,
    progress: Progress | None = None,
    hidden: Sequence[str] = (),
    files: Mapping[str, Path] = {},
    warm_up: int | None = None,
    inline: Inline | None = None,
    arch: str = "",
    machine_code: bool = True,
    processes: int = 4096,
    examiner: str = "",
    policy: str = "quarantine",
    turn: Turn | None = None,
    waiting: Sequence[Waiting] = (),
    are_captures_kept: bool = True,
) -> Quarantined:
    """Run `submission` for at most `timeout` seconds, and leave captures and the audit log in `folder`.

    `source` is asked in a thread, while the submission is imported, compiled or called. `progress` is called with the
    phase and the case. The submission may import or read `files` of the problem, by name. With `inline` nothing is
    recorded, and the caller opens its results. `examiner` is that of contract.ReadingStart, `machine_code` and
    `are_captures_kept` those of contract.Order. The submission obeys `policy`, a name or a path. The programs in
    `waiting` start beside it. It steps aside with `turn` for replays of others, and the time-out does not count that
    time. Raises what `source` raises, and BenchguardError or UsageError for failures that the submission did not
    cause; the result describes what the submission did.
    """
    cordon = cordon_for(policy, interposer.surface)
    deadline = Deadline(time.monotonic() + timeout)
    with ExitStack() as stack:
        user = stack.enter_context(identity.claimed_user())
        where = stack.enter_context(private(submission, folder, user is not None, deadline, files))
        check_disk(where.base)
        interposer = readable_interposer(interposer, where) if user is not None else interposer
        sender = stack.enter_context(CaseSender(source))
        order = Order(
            submission=str(where.submission / submission.main),
            language=submission.language,
            entry=submission.entry,
            convention=submission.convention,
            channel=sender.theirs,
            confine=Confine(
                scratch=str(where.scratch),
                readable=_readable(where, interposer),
                hidden=tuple(os.path.realpath(each) for each in hidden),
                user=user,
                memory_bytes=memory_bytes,
                processes=processes,
                network=network,
            ),
            warm_up=warm_up,
            beside=str(where.beside),
            arch=arch,
            machine_code=machine_code,
            are_captures_kept=are_captures_kept,
            inline_order=inline.order if inline is not None else None,
        )
        run = _Run(order, sender, submission, interposer, folder, where, stack, cordon, deadline, turn)
        return run.run(timeout, require_full, progress, examiner, waiting)


class _Beside:
    """Starts the programs that work after the submission, when it is imported or compiled.

    A program that cannot start now is started when its work is there.
    """

    def __init__(self, progress: Progress | None, group: Group, programs: Sequence[Waiting]) -> None:
        self._progress, self._group, self._due = progress, group, [*programs]

    def began(self, phase: str, case: int) -> None:
        while phase not in FIRST_PHASES and self._due:
            program = self._due.pop()
            with suppress(BenchguardError):
                program.start()
                self._group.leave_out(program.keeper)
        if self._progress is not None:
            self._progress(phase, case)


class _Run:
    def __init__(
        self,
        order: Order,
        sender: CaseSender,
        submission: Submission,
        interposer: Interposer,
        folder: Path,
        where: Private,
        stack: ExitStack,
        cordon: Cordon | None,
        deadline: Deadline,
        turn: Turn | None,
    ) -> None:
        self._deadline, self._turn = deadline, turn
        self._sender = sender
        self._order, self._submission, self._interposer = order, submission, interposer
        self._folder, self._where, self._stack = folder, where, stack
        self._cordon = cordon

    def run(
        self,
        timeout: float,
        require_full: bool,
        progress: Progress | None,
        examiner: str,
        waiting: Sequence[Waiting],
    ) -> Quarantined:
        deadline = self._deadline
        sandbox: Sandbox = "full" if require_full else "any"
        confine, inline = self._order.confine, self._order.inline_order
        captures_folder = self._where.scratch / environment.CAPTURES
        group = self._stack.enter_context(Group(confine.processes))
        reader = self._stack.enter_context(Reader(self._confine_reader(), examiner, sandbox))
        beside = _Beside(progress, group, () if inline is not None else (reader, *waiting))
        events = Events(beside.began)
        (events_end, events_theirs), (output_end, output_theirs) = self._pipe(), self._pipe()
        watch = Watch(confine.memory_bytes, confine.processes, self._where.scratch)
        pause = None
        if self._turn is not None:
            pause = Pause(self._turn, group, watch.look, lambda: any(each.uses_gpu for each in waiting))
        attendant = Attendant(
            events_end, output_end, deadline, events.handle, watch, group, pause=pause, paused=events.paused
        )
        path = self._folder / AUDIT_LOG
        with suppress(OSError):  # a link there may lead to a file of the user's
            path.unlink()
        log = LogWriter(path, replace=True)
        self._sender.start()
        run = supervise(
            command(events_theirs, sandbox, group),
            self._interposer,
            log,
            version=__version__,
            session=Session(wait_seconds=timeout, cordon=self._cordon),
            recorded=None if inline is not None else Recorded(captures_folder, ByProgram()),
            options=ChildOptions(
                environment=environment.quarantine_environment(
                    os.environ, self._where.scratch, self._interposer.driver
                ),
                cwd=self._where.scratch,
                stdin=self._stack.enter_context(request(self._order)),
                output=output_theirs,
                descriptors=(events_theirs, *self._order.descriptors),
                own_session=True,
                attend=attendant,
                deadline=deadline,
            ),
        )
        if run.log_error is not None and not attendant.excess:  # a submission may have filled the log's disk
            raise BenchguardError(run.log_error)
        wall = timeout - deadline.left()  # without pauses
        cases = self._sender.result().cases
        trouble = trouble_of(run, attendant, events)
        broke = None if trouble else events.broke
        if not (trouble or broke or attendant.timed_out or inline is not None):
            try:
                cases = replayed_cases(cases, events.returned)
            except ReturnedError as error:
                trouble = str(error)
        packed = Packed(trouble=trouble)
        replayed = replayed_regions(len(cases))
        if not (trouble or broke or attendant.timed_out or inline is not None):
            order = Reading(
                raw_captures=(),
                calls=tuple(export.name for export in self._interposer.surface.exports),
                cases=cases,
                deadline=deadline.at,
                replayed=() if self._order.are_captures_kept else replayed,
            )
            if progress is not None:
                progress(READING, -1)
            packed = read_all(captures_folder, self._folder, order, reader)
        timed_out = attendant.timed_out or packed.timed_out
        return Quarantined(
            captures=packed.captures,
            examined=packed.examined,
            confinement=confinement_of(events, run),
            submission_sha256=self._submission.sha256,
            altered=not timed_out and is_altered(self._where.submission, self._submission),
            status=run.status,
            timed_out=timed_out,
            broke=broke,
            seconds=events.seconds(wall),
            wall_s=wall,
            audit=_audit(log, run),
            output=printable(attendant.text, "\n\t"),
            trouble=packed.trouble,
            returned=events.returned,
            replayed=replayed,
            is_ours=(bool(trouble) or attendant.timed_out) and not events.has_begun,
        )

    def _confine_reader(self) -> Confine:
        """The reader's permissions: no folder of the submission's, and no network."""
        return msgspec.structs.replace(
            self._order.confine,
            readable=(os.path.realpath(PACKAGE / "codegen"),),  # a link, in a source tree
            processes=READER_PROCESSES,
            network=False,
        )

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        for each in ends:
            self._stack.callback(os.close, each)
        return ends


def _readable(where: Private, interposer: Interposer) -> tuple[str, ...]:
    libraries = [interposer.shim, interposer.preload, interposer.driver]
    if interposer.surface.api == "hip":
        libraries.append(HIP_BRIDGE)
    folders = dict.fromkeys(str(path.resolve().parent) for path in libraries)
    return (str(where.submission), str(where.beside), *folders)


def _audit(log: LogWriter, run: Run) -> Audit:
    return Audit(
        path=str(log.path),
        head=log.head.decode(),
        records=log.lines,
        dropped=run.totals.dropped + run.calls_lost,
        complete=run.complete,
        unread_bytes=run.totals.unread_bytes,
    )
