"""Run a program of ours that handles hostile bytes in the sandbox of a submission, and read its lines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..errors import BenchguardError
from ..ipc.deadline import Deadline
from ..ipc.folders import unused_name
from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from ..ipc.text import describe_exit, last_line, one_line
from .attend import Attendant
from .contract import LINE_MAX, Broke, Confined, Task, missing_features
from .group import Group
from .private import REMOVE_SECONDS_MIN, make_private, remove
from .sandbox.keeper import STATUS_LEFT
from .start import Sandbox, command, request
from .watch import Watch

_SIGNALLED = 128


@dataclass(frozen=True)
class Program:
    """How to start and to limit a program.

    `name` names it in messages. `path`: folders of the modules that it finds, besides the standard library; None: all
    installed packages. `deadline` is of the monotonic clock.
    """

    name: str
    order: Task
    environment: Mapping[str, str]
    deadline: float
    line_max: int
    lines_max: int
    path: Sequence[str] | None = None


@dataclass(frozen=True)
class Ended:
    """How a confined program ended.

    `status` is Popen's: negative for a signal. `features` is empty if the sandbox did not start; `refusal` says why the
    program did not run. `excess` names an exceeded limit, `trouble` an invalid line. `survived`: some processes did not
    end by SIGKILL.
    """

    status: int
    timed_out: bool
    features: dict[str, str]
    refusal: str
    excess: str
    trouble: str
    survived: bool
    output: str

    def describe(self) -> str:
        """How the program ended, and the last line of its output."""
        return describe_exit(self.status, last_line(self.output))


@contextmanager
def scratch_folder(user: int | None) -> Iterator[Path]:
    """A writable folder for one confined program that runs as `user`. Raises BenchguardError."""
    base = unused_name("neutrino-quarantine-")
    try:
        make_private(base)
        base.chmod(0o700 if user is None else 0o711)
        scratch = base / "scratch"
        scratch.mkdir(mode=0o700)
        yield scratch
    finally:
        remove(base, REMOVE_SECONDS_MIN)


def run_confined(program: Program, sandbox: Sandbox, handle: Callable[[bytes], bool]) -> Ended:
    """Run `program` to its end and call `handle` for each of its lines, as LineSplitter does.

    No process of the program survives, even if `handle` raises an exception. Raises BenchguardError if the program
    cannot be started.
    """
    with Running(program, sandbox) as running:
        return running.attend(handle, program.deadline)


class Running:
    """A program that has been started. A context manager, at whose end no process of the program lives.

    The program must not see hostile bytes before attend(), because its memory and its time have no limit until then.
    `keeper` is the number of its first process.
    """

    def __init__(self, program: Program, sandbox: Sandbox) -> None:
        """Raises BenchguardError if the program cannot be started."""
        self._program, self._sandbox = program, sandbox
        self._is_attended = False
        with ExitStack() as stack:
            (self._events, events_theirs), (self._output, output_theirs) = _pipe(stack), _pipe(stack)
            self._group = stack.enter_context(Group(program.order.confine.processes))
            try:
                self._child = subprocess.Popen(
                    command(events_theirs, sandbox, self._group, program.path),
                    env=dict(program.environment),
                    cwd=program.order.confine.scratch,
                    stdin=stack.enter_context(request(program.order)),
                    stdout=output_theirs,
                    stderr=output_theirs,
                    pass_fds=[events_theirs, *program.order.descriptors, *program.order.siblings],
                    start_new_session=True,
                )
            except OSError as error:
                raise BenchguardError(f"{program.name} cannot start: {error.strerror}") from error
            self._stack = stack.pop_all()

    @property
    def keeper(self) -> int:
        return self._child.pid

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            if not self._is_attended:
                self.attend(lambda _: False, 0.0)

    def leave_out(self, keeper: int) -> None:
        """As Group.leave_out()."""
        self._group.leave_out(keeper)

    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def attend(
        self, handle: Callable[[bytes], bool], deadline: float, memory_bytes: int | None = None
    ) -> Ended:
        """As run_confined(), until `deadline`. `memory_bytes` replaces the order's limit on memory."""
        self._is_attended = True
        program, confine = self._program, self._program.order.confine
        memory_max = confine.memory_bytes if memory_bytes is None else memory_bytes
        start = _Start(self._sandbox, confine.network, handle)
        attendant = Attendant(
            self._events,
            self._output,
            Deadline(deadline),
            start.handle,
            Watch(memory_max, confine.processes, Path(confine.scratch), program.name),
            self._group,
            line_max=max(program.line_max, LINE_MAX),
            lines_max=program.lines_max,
        )
        status, survivors = attendant(self._child)
        return Ended(
            status=_SIGNALLED - status if status > _SIGNALLED else status,
            timed_out=attendant.timed_out,
            features=start.features,
            refusal=start.refusal,
            excess=attendant.excess,
            trouble=attendant.trouble,
            survived=bool(survivors) or status == STATUS_LEFT,
            output=attendant.text,
        )


@dataclass
class _Start:
    """Takes the first line, which the stage writes before the program sees a hostile byte."""

    sandbox: Sandbox
    network: bool
    rest: Callable[[bytes], bool]
    features: dict[str, str] = field(default_factory=dict)
    refusal: str = ""

    def handle(self, line: bytes) -> bool:
        if self.features:
            return self.rest(line)
        try:
            event = msgspec.json.decode(line, type=Confined | Broke)
        except UNREADABLE as error:
            raise LineError(f"a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Broke):
            self.refusal = one_line(event.text)
            return False
        self.features = event.features
        missing = missing_features(event.features, self.network)
        if self.sandbox == "full" and missing:
            self.refusal = f"sandbox: partial ({one_line(missing)})"
        return not self.refusal


def _pipe(stack: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for each in ends:
        stack.callback(os.close, each)
    return ends
