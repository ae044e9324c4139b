"""Run a command under the shim and write its audit log."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from .. import exit_status
from ..errors import BenchguardError
from ..ipc.deadline import Deadline
from ..ipc.processes import adopt_orphans, kill_all
from ..shim.interposer import Interposer
from .choice import ALL_CALLS, CallChoice
from .environment import Recorded, command_environment
from .log import LogWriter
from .probe_area import ProbeListener
from .recorder import Recorder, Recording
from .session import Session
from .unobserved import UnobservedWatch

__all__ = ["Attend", "ChildOptions", "Recorded", "Run", "supervise"]

# Time to wait for processes that outlive the command.
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.01

# Time for the last trace records of a command that was killed at the deadline.
AUDIT_SECONDS = 0.5

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True, kw_only=True)
class Run(Recording):
    """The result of a command. `status` is the command's exit status, 128 + n for signal n, or 124 for a time-out."""

    status: int
    timed_out: bool = False
    """Whether the timeout killed the command."""


Attend = Callable[["subprocess.Popen[bytes]"], tuple[int, tuple[int, ...]]]
"""Waits for a command and its descendants; returns the status, as in Run, and the surviving processes."""


@dataclass(frozen=True)
class ChildOptions:
    """How to start a command.

    With the defaults it starts as from a shell: with this process's environment, folder, standard streams and session,
    so that the terminal's signals reach both.
    """

    environment: Mapping[str, str] | None = None
    cwd: Path | None = None
    stdin: int | None = None
    output: int | None = None
    """Standard output and standard error."""
    descriptors: tuple[int, ...] = ()
    own_session: bool = False
    """Start the command without a terminal, and do not forward signals to it."""
    attend: Attend | None = None
    """Replaces waiting for the command and enforces its own time-out. Used where other children must not be touched."""
    deadline: Deadline | None = None
    """Trace records that have not been interpreted AUDIT_SECONDS after it stay unread."""


class _Signals:
    """Forwards signals to the command. SIGINT is not forwarded, because the terminal sends it to both processes.

    Handlers are installed before the command starts; signals that come earlier are forwarded then. They are Python
    functions, which exec resets, whereas an ignored signal would stay ignored in the command.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, object] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._forward) for number in FORWARDED}
            self._before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as signal() gave it

    def go_to(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        while self._early:
            child.send_signal(self._early.pop(0))

    def _forward(self, number: int, _: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)  # has no effect on an ended child


def _start(
    command: Sequence[str], environment: dict[str, str], session: Session, options: ChildOptions
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=options.cwd,
            stdin=options.stdin,
            stdout=options.output,
            stderr=options.output,
            pass_fds=[session.descriptor, *options.descriptors],
            start_new_session=options.own_session,
        )
    except OSError as error:
        raise failed_start(command[0], error) from error


def failed_start(program: str, error: OSError) -> BenchguardError:
    """The error for a program that cannot be started, with a shell's exit status."""
    status, why = exit_status.NOT_EXECUTABLE, f"{error.strerror}; check that it is a program"
    if isinstance(error, FileNotFoundError) or _is_missing(program):
        status, why = exit_status.NOT_FOUND, "command not found; check its spelling and PATH"
    elif isinstance(error, PermissionError):
        why = "it may not be executed; chmod +x it, or name its interpreter"
    failure = BenchguardError(f"cannot run {program}: {why}")
    failure.status = status
    return failure


def _is_missing(program: str) -> bool:
    """Whether no folder of PATH has the program. execvp() reports a folder that may not be searched instead."""
    return "/" not in program and not any(
        os.access(Path(folder, program), os.F_OK) for folder in os.get_exec_path()
    )


def supervise(
    command: Sequence[str],
    interposer: Interposer,
    log: LogWriter,
    *,
    version: str,
    callers: str | None = None,
    timeout: float | None = None,
    keep_images: Path | None = None,
    session: Session | None = None,
    recorded: Recorded | None = None,
    options: ChildOptions | None = None,
    probes: ProbeListener | None = None,
    choice: CallChoice = ALL_CALLS,
) -> Run:
    """Run `command` to its end, and wait up to GRACE_SECONDS longer for its descendants. Times are in seconds.

    Raises BenchguardError if the command cannot be started; the log then has its first and last line.
    """
    session = session or Session()
    options = options or ChildOptions()
    recorder = Recorder(session, interposer, log, keep_images, probes=probes, choice=choice)
    status = exit_status.INTERNAL
    timed_out = False
    outlived: tuple[int, ...] = ()
    watch = UnobservedWatch(interposer.shim, session.nonce.hex(), recorder.command_processes)
    recorder.start(command, version)
    try:
        base = dict(os.environ if options.environment is None else options.environment)
        environment = command_environment(interposer, session, callers, base, recorded)
        with nullcontext() if options.own_session else _Signals() as signals, adopt_orphans():
            child = _start(command, environment, session, options)
            if signals is not None:
                signals.go_to(child)
            if options.attend is not None:
                status, outlived = options.attend(child)
            else:
                with watch:
                    status, timed_out = _wait(child, timeout, recorder)
                    outlived = _wait_for_others(recorder)
    except BenchguardError as error:
        status = error.status
        raise
    finally:
        recording = recorder.end(
            status, outlived=outlived, unobserved=watch.found, deadline=_end_of(options.deadline)
        )
    return Run(status=status, timed_out=timed_out, **vars(recording))


def _end_of(deadline: Deadline | None) -> float | None:
    return None if deadline is None else deadline.at + AUDIT_SECONDS


def _wait(child: subprocess.Popen[bytes], timeout: float | None, recorder: Recorder) -> tuple[int, bool]:
    """Wait for the command; return its status and whether the timeout killed it."""
    try:
        status = child.wait(timeout)
    except subprocess.TimeoutExpired:
        kill_all(recorder.command_processes())
        child.wait()
        return exit_status.TIMEOUT, True
    return (128 - status if status < 0 else status), False


def _wait_for_others(recorder: Recorder) -> tuple[int, ...]:
    """Wait for processes that outlive the command and may still use the driver; return those that remain."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        living = recorder.command_processes()
        if not living or time.monotonic() > deadline:
            return living
        time.sleep(POLL_SECONDS)
