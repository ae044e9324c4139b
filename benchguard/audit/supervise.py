"""Run a command under the shim and write its audit log."""

from __future__ import annotations

import datetime
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import msgspec

from .. import exit_status
from ..errors import BenchguardError
from ..ipc.json_text import json_line
from ..ipc.processes import adopt_orphans, kill_all, living_descendants
from ..shim.interposer import Interposer
from ..shim.surface import Api
from . import entries
from .cordon import Cordon
from .drain import Chunk, Drain, Ended
from .interpret import Interpreter
from .known import Totals
from .log import FORMAT, LogWriter
from .selection import Selection
from .session import Session
from .unobserved import UnobservedWatch

# Time to wait for processes that outlive the command.
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.01
PASS_BYTES = 1 << 20
"""Trace records that are interpreted at once: objects and lines made of them take 10 times their memory."""

VARIABLES: dict[Api, tuple[str, str]] = {
    "cuda": ("NEUTRINO_SHIM", "NEUTRINO_DRIVER"),
    "hip": ("NEUTRINO_HIP_SHIM", "NEUTRINO_HIP_DRIVER"),
}
"""Variables with the paths of the shim and of the real driver."""

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True)
class Recorded:
    """The region of the command to capture, and the absolute path of an existing folder for its raw captures."""

    folder: Path
    selection: Selection


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
    deadline: float | None = None
    """By the monotonic clock. Trace records that have not been interpreted by then stay unread."""


@dataclass(frozen=True)
class Run:
    """The result of a command. `status` is the command's exit status, 128 + n for signal n, or 124 for a time-out."""

    status: int
    totals: Totals
    images_dropped: int
    rings_exhausted: int
    calls_lost: int
    outlived: tuple[int, ...]
    log_error: str | None
    images_error: BenchguardError | None
    unobserved: tuple[str, ...] = ()
    """Child processes that ran without the shim's environment: process number and command."""
    timed_out: bool = False
    """Whether the timeout killed the command."""

    @property
    def complete(self) -> bool:
        """Whether no record was lost. Only complete runs are judged."""
        lost = self.totals.dropped or self.images_dropped or self.rings_exhausted or self.calls_lost
        lost = lost or self.totals.unread_bytes
        return not (lost or self.totals.corrupt_rings or self.outlived or self.log_error)


def command_environment(
    interposer: Interposer,
    session: Session,
    callers: str | None,
    base: dict[str, str],
    recorded: Recorded | None = None,
) -> dict[str, str]:
    """The measured process's environment (docs/architecture.md).

    Variables of an outer session are replaced, or its shim, perhaps of another vendor, would write to this session.
    """
    outer = {base.get(shim) for shim, _ in VARIABLES.values()}
    preloads = [str(interposer.preload), str(interposer.shim)]
    preloads += [word for word in re.split("[: ]+", base.get("LD_PRELOAD", "")) if word and word not in outer]
    replaced = {"NEUTRINO_FILTER", *(name for names in VARIABLES.values() for name in names)}
    environment = {name: value for name, value in base.items() if name not in replaced}
    environment.update(session.environment())
    environment["LD_PRELOAD"] = ":".join(dict.fromkeys(preloads))
    api = interposer.surface.api
    environment.update(zip(VARIABLES[api], (str(interposer.shim), str(interposer.driver)), strict=True))
    for name, value in interposer.environment.items():
        environment.setdefault(name, value)
    if interposer.runtime_folder is not None:
        folders = [str(interposer.runtime_folder), *base.get("LD_LIBRARY_PATH", "").split(os.pathsep)]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    if recorded is not None:
        environment.update(NEUTRINO_CAPTURE=str(recorded.folder), NEUTRINO_REGION=recorded.selection.variable)
    if callers:
        environment["NEUTRINO_FILTER"] = callers
    if api == "cuda" and not interposer.on_loader_path:
        # Triton links a helper against libcuda.so.1, which it searches in ldconfig's list unless this variable is set.
        environment.setdefault("TRITON_LIBCUDA_PATH", str(interposer.shim.parent))
    return environment


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
    except FileNotFoundError as error:
        status, why = exit_status.NOT_FOUND, "command not found; check its spelling and PATH"
        cause: OSError = error
    except PermissionError as error:
        status, why, cause = (
            exit_status.NOT_EXECUTABLE,
            "it may not be executed; chmod +x it, or name its interpreter",
            error,
        )
    except OSError as error:
        status, why, cause = (
            exit_status.NOT_EXECUTABLE,
            f"{error.strerror}; check that it is a program",
            error,
        )
    failure = BenchguardError(f"cannot run {command[0]}: {why}")
    failure.status = status
    raise failure from cause


class _Pump(threading.Thread):
    """Interprets the drain's items and writes log lines, until finish() is called."""

    def __init__(self, drain: Drain, interpreter: Interpreter, log: LogWriter) -> None:
        super().__init__(name="interpret", daemon=True)
        self._drain, self._interpreter, self._log = drain, interpreter, log
        self._finish = threading.Event()
        self._deadline: float | None = None
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._finish.is_set():
                if not self._pass():
                    self._finish.wait(POLL_SECONDS)
            while self._is_in_time() and self._pass():
                pass
            self._interpreter.skip(self._take(sys.maxsize))
            self._write(self._interpreter.finish())
        except BaseException as failure:  # finish() raises it in its caller's thread
            self.failure = failure

    def finish(self, deadline: float | None) -> None:
        """Interpret the rest until `deadline` of the monotonic clock; later items are counted as unread."""
        self._deadline = deadline
        self._finish.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def _is_in_time(self) -> bool:
        return self._deadline is None or time.monotonic() < self._deadline

    def _take(self, most: int) -> list[Chunk | Ended]:
        """The oldest items, about `most` bytes of them."""
        items: list[Chunk | Ended] = []
        taken = 0
        while taken < most and (item := self._drain.next()) is not None:
            items.append(item)
            taken += len(item.data) if isinstance(item, Chunk) else 0
        return items

    def _pass(self) -> bool:
        items = self._take(PASS_BYTES)
        self._write(self._interpreter.feed(items))
        return bool(items)

    def _write(self, lines: list[bytes]) -> None:
        for line in lines:
            self._log.write(line)
        self._log.flush()


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
) -> Run:
    """Run `command` to its end, and wait up to GRACE_SECONDS longer for its descendants. Times are in seconds.

    Raises BenchguardError if the command cannot be started; the log then has its first and last line.
    """
    session = session or Session()
    options = options or ChildOptions()
    started_ns = time.monotonic_ns()
    log.write(_session_line(command, interposer, version, started_ns, session.cordon))
    log.flush()
    drain = Drain(session)
    interpreter = Interpreter(session, interposer.surface, started_ns, keep_images)
    pump = _Pump(drain, interpreter, log)
    status = exit_status.INTERNAL
    timed_out = False
    outlived: tuple[int, ...] = ()
    watch = UnobservedWatch(interposer.shim, session.nonce.hex(), lambda: interpreter.helper)
    drain.start()
    pump.start()
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
                    status, timed_out = _wait(child, timeout, interpreter)
                    outlived = _wait_for_others(interpreter)
    except BenchguardError as error:
        status = error.status
        raise
    finally:
        drain.stop()
        pump.finish(options.deadline)
        run = _ended(session, interpreter, outlived, status, log, watch)
        log.write(_end_line(run, time.monotonic_ns() - started_ns))
        log.close()
        session.close()
    return replace(run, log_error=log.error, timed_out=timed_out)


def _session_line(
    command: Sequence[str], interposer: Interposer, version: str, started_ns: int, cordon: Cordon | None
) -> bytes:
    return json_line(
        entries.SessionEntry(
            format=FORMAT,
            version=version,
            started=datetime.datetime.now(datetime.timezone.utc).isoformat(),
            command=[_text(word) for word in command],
            driver={
                "path": _text(str(interposer.driver)),
                **msgspec.structs.asdict(interposer.surface.driver),
            },
            shim={**interposer.facts, "path": _text(str(interposer.shim))},
            session_ns=started_ns,
            api=interposer.surface.api,
            policy={"name": cordon.name, "sha256": cordon.sha256, "rules": list(cordon.rules)}
            if cordon is not None
            else None,
        )
    )


def _text(word: str) -> str:
    """Replace bytes of a command or a path that are not UTF-8, as JSON requires."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _wait(
    child: subprocess.Popen[bytes], timeout: float | None, interpreter: Interpreter
) -> tuple[int, bool]:
    """Wait for the command; return its status and whether the timeout killed it."""
    try:
        status = child.wait(timeout)
    except subprocess.TimeoutExpired:
        kill_all(living_descendants([interpreter.helper]))
        child.wait()
        return exit_status.TIMEOUT, True
    return (128 - status if status < 0 else status), False


def _wait_for_others(interpreter: Interpreter) -> tuple[int, ...]:
    """Wait for processes that outlive the command and may still use the driver; return those that remain."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        living = living_descendants([interpreter.helper])
        if not living or time.monotonic() > deadline:
            return living
        time.sleep(POLL_SECONDS)


def _ended(
    session: Session,
    interpreter: Interpreter,
    outlived: tuple[int, ...],
    status: int,
    log: LogWriter,
    watch: UnobservedWatch,
) -> Run:
    counters = session.counters()
    return Run(
        status=status,
        totals=interpreter.totals,
        images_dropped=counters.images_dropped,
        rings_exhausted=counters.rings_exhausted,
        calls_lost=counters.calls_lost,
        outlived=outlived,
        log_error=log.error,
        images_error=interpreter.images.error,
        unobserved=tuple(f"{pid} {command}" for pid, command in watch.found.items()),
    )


def _end_line(run: Run, time_ns: int) -> bytes:
    totals = run.totals
    return json_line(
        entries.EndEntry(
            time_ns=time_ns,
            status=run.status,
            launches=totals.launches,
            graph_launches=totals.graph_launches,
            calls=totals.calls,
            images=totals.images,
            kernels=totals.kernels,
            processes=totals.processes,
            unmapped=totals.unmapped,
            denied=totals.denied,
            dropped=totals.dropped + run.calls_lost,
            images_dropped=run.images_dropped,
            rings_exhausted=run.rings_exhausted,
            corrupt_rings=totals.corrupt_rings,
            outlived=list(run.outlived),
            unobserved=list(run.unobserved),
            complete=run.complete,
        )
    )
