"""Run a submission in the sandbox and under the shim, and pack the raw captures that it leaves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from ..audit.log import LogWriter
from ..audit.selection import ByProgram
from ..audit.session import Session
from ..audit.supervise import ChildOptions, Recorded, Run, supervise
from ..errors import BenchguardError
from ..inline.supervise import Inline
from ..ipc.text import printable
from ..shim.interposer import Interposer
from ..version import __version__
from .attend import Attendant
from .cases import CaseSender
from .contract import Audit, Cases, Confine, Order, Quarantined
from .events import Events, Progress
from .group import Group
from .private import Private, private, readable_interposer
from .raw_captures import pack_all
from .sandbox import environment, identity
from .submission import Submission, is_altered
from .trouble import confinement_of, is_confined, trouble_of
from .watch import Watch

AUDIT_LOG = "audit.jsonl"
IMAGES = "images"

# Python's -I does not search the package's folder, so the folder is on the path while the stage is imported.
_START = (
    "import os, sys; sys.path += sys.argv[2].split(os.pathsep) if sys.argv[2] else []; "
    "sys.path.insert(0, sys.argv[1]); from benchguard.quarantine.sandbox.stage import main; "
    "sys.path.remove(sys.argv[1]); main(sys.argv[3:])"
)


Sandbox = Literal["any", "full", "probe"]
"""any: run with the protections that this machine has. full: run only if all are on. probe: only report them."""


def command(events: int, sandbox: Sandbox, group: Group) -> list[str]:
    """The command that starts the stage.

    It ignores PYTHON* variables and the user's folders, but finds all installed packages, including those on
    PYTHONPATH.
    """
    package = str(Path(__file__).resolve().parents[2])
    installed = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [each for each in installed if each and os.path.realpath(each) != package]
    cgroup = str(group.cgroup or "")
    words = [package, os.pathsep.join(folders), str(events), str(os.getpid()), sandbox, cgroup]
    return [sys.executable, "-I", "-c", _START, *words]


def quarantine(
    submission: Submission,
    find_cases: Callable[[], Cases],
    *,
    interposer: Interposer,
    folder: Path,
    timeout: float,
    memory_bytes: int,
    network: bool = False,
    require_full: bool = False,
    progress: Progress | None = None,
    hidden: Sequence[str] = (),
    warm_up: int = 2,
    inline: Inline | None = None,
    arch: str = "",
    processes: int = 4096,
) -> Quarantined:
    """Run `submission` for at most `timeout` seconds, and leave captures and the audit log in `folder`.

    `find_cases` is called in a thread, while the submission is imported or compiled. `progress` is called with the
    phase and the case. With `inline` nothing is recorded, and the caller opens its results. Raises what `find_cases`
    raises, and BenchguardError or UsageError for failures that the submission did not cause; the result describes
    what the submission did.
    """
    user = identity.free_user()
    with ExitStack() as stack:
        where = stack.enter_context(private(submission, folder, user is not None))
        interposer = readable_interposer(interposer, where) if user is not None else interposer
        sender = stack.enter_context(CaseSender(find_cases))
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
            arch=arch,
            inline_order=inline.order if inline is not None else None,
        )
        run = _Run(order, sender, submission, interposer, folder, where, stack)
        return run.run(timeout, require_full, progress)


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
    ) -> None:
        self._sender = sender
        self._order, self._submission, self._interposer = order, submission, interposer
        self._folder, self._where, self._stack = folder, where, stack

    def run(self, timeout: float, require_full: bool, progress: Progress | None) -> Quarantined:
        began = time.monotonic()
        confine, inline = self._order.confine, self._order.inline_order
        captures_folder = self._where.scratch / environment.CAPTURES
        events = Events(progress)
        group = self._stack.enter_context(Group(confine.processes))
        (events_end, events_theirs), (output_end, output_theirs) = self._pipe(), self._pipe()
        watch = Watch(confine.memory_bytes, confine.processes, self._where.scratch)
        attendant = Attendant(events_end, output_end, began + timeout, events.handle, watch, group)
        log = LogWriter(self._folder / AUDIT_LOG, replace=True)
        images = self._folder / IMAGES if inline is not None else None
        if images is not None:
            images.mkdir(exist_ok=True)
        self._sender.start()
        run = supervise(
            command(events_theirs, "full" if require_full else "any", group),
            self._interposer,
            log,
            version=__version__,
            session=Session(wait_seconds=timeout),
            keep_images=images,
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
            ),
        )
        if run.log_error is not None:
            raise BenchguardError(run.log_error)
        if run.images_error is not None:
            raise run.images_error
        wall = time.monotonic() - began
        cases = len(self._sender.result().cases)
        trouble = trouble_of(run, attendant, events)
        broke = None if trouble else events.broke
        captures: tuple[tuple[Path, Path], ...] = ()
        if not (trouble or broke or attendant.timed_out or inline is not None):
            calls = [export.name for export in self._interposer.surface.exports]
            packed = pack_all(captures_folder, self._folder, cases, calls)
            captures, trouble = packed.captures, packed.trouble
        return Quarantined(
            captures=captures,
            confinement=confinement_of(events, run),
            submission_sha256=self._submission.sha256,
            altered=is_altered(self._where.submission, self._submission),
            status=run.status,
            timed_out=attendant.timed_out,
            broke=broke,
            seconds=events.seconds,
            timed_ns=dict(events.timed_ns),
            images=images,
            wall_s=wall,
            audit=_audit(log, run),
            output=printable(attendant.text, "\n\t"),
            trouble=trouble,
            is_ours=bool(trouble) and not is_confined(run, events),
        )

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        for each in ends:
            self._stack.callback(os.close, each)
        return ends


def _readable(where: Private, interposer: Interposer) -> tuple[str, ...]:
    libraries = (interposer.shim, interposer.preload, interposer.driver)
    folders = dict.fromkeys(str(path.resolve().parent) for path in libraries)
    return (str(where.submission), *folders)


@contextmanager
def request(order: Order) -> Iterator[int]:
    """A memfd with the order, for the stage's standard input."""
    descriptor = os.memfd_create("neutrino-order", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as stream:
            stream.write(msgspec.json.encode(order))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _audit(log: LogWriter, run: Run) -> Audit:
    return Audit(
        path=str(log.path),
        head=log.head.decode(),
        records=log.lines,
        dropped=run.totals.dropped + run.calls_lost,
        complete=run.complete,
    )
