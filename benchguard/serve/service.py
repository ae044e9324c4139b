"""The service: accept programs, fork a recorder for each, and report how they end."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import msgspec

from ..audit.cordon import Cordon
from ..audit.supervise import failed_start
from ..ipc.json_text import UNREADABLE, json_line
from ..shim.interposer import Interposer
from .layout import RequestKind
from .messages import REQUEST_MAX, Request, RequestError, granted, parse_request, refused
from .options import ServeOptions
from .peer import Peer, peer_of
from .place import LOG_SUFFIX, claimed
from .policies import Policies
from .program import ATTACHED_AGAIN, FINISH, REPORT_MAX, Program, Report, fork_recorder
from .space import Space
from .unobserved import Unobserved

SCHEMA = "neutrino-bench/serve/1"
REQUEST_SECONDS = 5.0
"""Time for a connection to send its request. A shim sends it at once."""
PENDING_MAX = 32
FINISH_SECONDS = 30.0
"""Time for the recorders to read the rest and write their last lines, when the service ends."""
SAME_REASON_SECONDS = 10.0
SAME_PROCESS_MAX = 8
"""Sessions of one process: one for each shim in it, and one for each program that it executed."""

TERMINATING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

Say = Callable[[str], None]


def _start(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start the command of a service; its process number."""
    try:
        # Python ignores these two, and a new program would inherit that.
        return os.posix_spawnp(
            command[0], list(command), environment, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ]
        )
    except OSError as error:
        raise failed_start(command[0], error) from error


@dataclass
class Ending:
    """The outcome of a service.

    `trouble` counts logs that were not written to their end. `status` is the command's, as a shell reports it.
    """

    programs: int = 0
    refused: int = 0
    trouble: int = 0
    status: int = 0


@dataclass
class _Recorder:
    program: Program
    process: int
    started: str
    report: bytes = b""


@dataclass
class Service:
    """Serves from run() until SIGTERM, SIGINT or SIGHUP, or until its command ends. `say` and `warn` print one line."""

    folder: Path
    path: Path
    interposers: Mapping[str, Interposer]
    """By the SHA-256 of the shim's surface.json."""
    options: ServeOptions
    version: str
    say: Say
    warn: Say
    cordon: Cordon | None = None
    """The policy that all programs obey."""
    ending: Ending = field(default_factory=Ending)

    def __post_init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._recorders: dict[int, _Recorder] = {}  # by the descriptor of the report
        self._pending: dict[socket.socket, float] = {}  # connections without a request, and their deadlines
        self._said: dict[str, float] = {}
        self._policies = Policies(self.folder, self.cordon)
        self._unobserved = Unobserved(self.path, list(self.interposers.values()))
        self._statuses: dict[int, int] = {}  # of ended children that nobody has asked for yet
        self._command = 0
        self._is_ending = False

    def run(self, command: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> Ending:
        """Serve, and run `command` if there is one. Raises BenchguardError if it or the service cannot start."""
        with claimed(self.folder, self.path, self.options.any_user) as listener, self._signals():
            self._space = Space(self.folder, self.options.max_total_bytes)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)
            self.say(f"serving at {self.path}; logs go to {self.folder}")
            if command:
                self._command = _start(command, environment or {})
            while not self._is_ending:
                self._turn(max(0.0, self._unobserved.due - time.monotonic()))
                if time.monotonic() >= self._unobserved.due:
                    self._name_unobserved()
            self._selector.unregister(listener)
            for connection in list(self._pending):
                self._drop(connection)
        self._finish()
        return self.ending

    # --- events -------------------------------------------------------------------------------------------

    def _turn(self, seconds: float) -> None:
        """Handle the events of one wait."""
        seconds = min([seconds, *self._deadlines()])
        for key, _ in self._selector.select(seconds):
            key.data(key.fileobj)
        now = time.monotonic()
        for connection, deadline in list(self._pending.items()):
            if now > deadline:
                self._drop(connection)

    def _deadlines(self) -> list[float]:
        now = time.monotonic()
        return [max(0.0, deadline - now) for deadline in self._pending.values()]

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Wake the selector up for a terminating signal, and for a child's end."""
        reader, writer = socket.socketpair()
        for end in (reader, writer):
            end.setblocking(False)
        earlier = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._end) for number in TERMINATING}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(reader, selectors.EVENT_READ, self._wake)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(earlier)
            self._selector.unregister(reader)
            reader.close()
            writer.close()

    def _wake(self, reader: socket.socket) -> None:
        """Reap all children. As process 1 of a container the service has those of others, too."""
        reader.recv(64)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._statuses[ended[0]] = ended[1]
        ours = {self._command, *(each.process for each in self._recorders.values())}
        self._statuses = {pid: status for pid, status in self._statuses.items() if pid in ours}
        if self._command in self._statuses:
            code = os.waitstatus_to_exitcode(self._statuses.pop(self._command))
            self.ending.status = 128 - code if code < 0 else code
            self._command = 0
            self._is_ending = True

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """End the service; with a command, end the command. A terminal sends SIGINT to both."""
        if not self._command:
            self._is_ending = True
        elif number != signal.SIGINT:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._command, number)

    # --- connections --------------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
                self._warn_once(f"cannot accept a program: {error.strerror}; raise the limit (ulimit -n)")
                time.sleep(0.1)
            return
        connection.setblocking(False)
        if len(self._pending) >= PENDING_MAX:
            self._drop(next(iter(self._pending)))
        self._pending[connection] = time.monotonic() + REQUEST_SECONDS
        self._selector.register(connection, selectors.EVENT_READ, self._answer)

    def _drop(self, connection: socket.socket) -> None:
        if self._pending.pop(connection, None) is not None:
            self._selector.unregister(connection)
        connection.close()

    def _answer(self, connection: socket.socket) -> None:
        """Read a connection's request and answer it."""
        try:
            # One byte more than allowed, so that a longer message is seen as such. Descriptors are not accepted.
            data = connection.recv(REQUEST_MAX + 1)
            if data:
                self._serve(connection, parse_request(data))
        except RequestError as error:
            self.ending.refused += 1
            self._warn_once(f"refused a program: {error}")
            with contextlib.suppress(OSError):
                connection.send(refused(str(error)))
        except OSError:
            pass  # the other end is gone
        finally:
            self._drop(connection)

    def _serve(self, connection: socket.socket, request: Request) -> None:
        peer = peer_of(connection)
        is_kept = False
        try:
            if peer.user not in (0, os.getuid()) and not self.options.any_user:
                raise RequestError(f"the service is for user {os.getuid()}; start it with --any-user")
            if request.kind == RequestKind.LIST:
                connection.send(granted(self._list()))
            else:
                self._start(connection, request, peer)
                is_kept = True
        finally:
            if not is_kept:
                peer.close()

    # --- programs -----------------------------------------------------------------------------------------

    def _start(self, connection: socket.socket, request: Request, peer: Peer) -> None:
        """Fork a recorder, which answers the connection."""
        interposer = self.interposers.get(request.surface)
        if interposer is None:
            raise RequestError(
                "the program's shim is not for the driver of the service; "
                "take the program's variables from `neutrino-bench env` with the --driver of `neutrino-bench serve`"
            )
        self._check_numbers(peer)
        cordon = self._policies.cordon(request.policy, interposer.surface)
        name = Path(peer.executable).name if peer.executable else ""
        name = Request(request.kind, "", (name,)).program if name else request.program
        log = self._log_path(peer, name)
        shares = self.options.max_programs - len(self._recorders)
        log_bytes = self._space.promise(log, self.options.max_log_bytes, shares)
        program = Program(
            peer=peer,
            name=name,
            command=request.command,
            interposer=interposer,
            log=log,
            log_bytes=log_bytes,
            part_bytes=self.options.log_size,
            memory=self.options.image_bytes,
            cordon=cordon,
        )
        try:
            process, report = fork_recorder(program, connection, self.version)
        except OSError as error:
            self._space.settle(log)
            raise RequestError(f"cannot start a recorder: {error.strerror}") from error
        for each in self._recorders.values():
            if peer.process and each.program.peer.process == peer.process:
                self._signal(each, ATTACHED_AGAIN)
        os.set_blocking(report, False)
        self._recorders[report] = _Recorder(program, process, time.strftime("%Y-%m-%dT%H:%M:%S%z"))
        self._selector.register(report, selectors.EVENT_READ, self._hear)
        self.ending.programs += 1

    def _check_numbers(self, peer: Peer) -> None:
        """Raises RequestError if the program is one too many."""
        programs = [each.program for each in self._recorders.values()]
        if len(programs) >= self.options.max_programs:
            raise RequestError(f"{len(programs)} programs are recorded; raise --max-programs")
        if sum(each.peer.user == peer.user for each in programs) >= self.options.max_programs_per_user:
            raise RequestError(
                f"{self.options.max_programs_per_user} programs of user {peer.user} are recorded; "
                "raise --max-programs-per-user"
            )
        if peer.process and sum(each.peer.process == peer.process for each in programs) >= SAME_PROCESS_MAX:
            raise RequestError(
                f"process {peer.process} has {SAME_PROCESS_MAX} sessions already; end some first"
            )

    def _log_path(self, peer: Peer, name: str) -> Path:
        base = f"{time.strftime('%Y%m%d-%H%M%S')}-{peer.process}-{name}"
        paths = (
            self.folder / f"{base}{more}{LOG_SUFFIX}" for more in ("", *(f"-{n}" for n in range(2, 10000)))
        )
        return next(path for path in paths if not os.path.lexists(path) and not self._is_planned(path))

    def _is_planned(self, path: Path) -> bool:
        return any(each.program.log == path for each in self._recorders.values())

    def _signal(self, recorder: _Recorder, number: int) -> None:
        """Send a signal to a recorder that has not been reaped."""
        if recorder.process not in self._statuses:
            os.kill(recorder.process, number)

    def _name_unobserved(self) -> None:
        own = [os.getpid()] if not self._command else [each.process for each in self._recorders.values()]
        recorded = {each.program.peer.process for each in self._recorders.values()}
        for process, command in self._unobserved.scan(own, recorded).items():
            self.warn(
                f"process {process} ({command}) uses the driver without the shim, so it is not recorded; "
                "give it the variables of `neutrino-bench env`"
            )

    def _list(self) -> str:
        """The programs that run now."""
        programs = [
            {
                "process": each.program.peer.process,
                "user": each.program.peer.user,
                "program": each.program.name,
                "started": each.started,
                "log": str(each.program.log),
            }
            for each in self._recorders.values()
        ]
        return json_line(
            {
                "schema": SCHEMA,
                "process": os.getpid(),
                "folder": str(self.folder),
                "ended": self.ending.programs - len(programs),
                "refused": self.ending.refused,
                "unobserved": {str(pid): command for pid, command in self._unobserved.found.items()},
                "programs": programs,
            }
        ).decode()

    def _hear(self, report: int) -> None:
        """Read a recorder's report; at its end, the recorder is gone."""
        recorder = self._recorders[report]
        data = os.read(report, REPORT_MAX)
        if data:
            recorder.report += data
            return
        self._selector.unregister(report)
        os.close(report)
        del self._recorders[report]
        recorder.program.peer.close()
        status = self._statuses.pop(recorder.process, None)
        if status is None:
            _, status = os.waitpid(recorder.process, 0)
        self._space.settle(recorder.program.log)
        self._report(recorder, status)

    def _report(self, recorder: _Recorder, status: int) -> None:
        program = recorder.program
        try:
            report = msgspec.json.decode(recorder.report, type=Report)
        except UNREADABLE:
            how = os.waitstatus_to_exitcode(status)
            report = Report(error=f"its recorder ended ({how}), so the log {program.log} is cut short")
        who = f"{program.name} (process {program.peer.process})"
        if report.error:
            self.ending.trouble += 1
            self.warn(f"{who}: {report.error}")
            return
        complete = "complete" if report.complete else "INCOMPLETE"
        self.say(f"{who}: {report.launches} launches, {complete}; log {program.log}, head {report.head}")

    def _finish(self) -> None:
        """End all recorders."""
        for recorder in self._recorders.values():
            self._signal(recorder, FINISH)
        deadline = time.monotonic() + FINISH_SECONDS
        while self._recorders and time.monotonic() < deadline:
            self._turn(max(0.0, deadline - time.monotonic()))
        for recorder in self._recorders.values():
            self.ending.trouble += 1
            self.say(
                f"{recorder.program.name}: not written in {FINISH_SECONDS:g} s; {recorder.program.log} is cut short"
            )
            self._signal(recorder, signal.SIGKILL)

    def _warn_once(self, text: str) -> None:
        """A hostile program must not fill the standard error of the service."""
        now = time.monotonic()
        if len(self._said) > 100:
            self._said.clear()
        if now - self._said.get(text, -SAME_REASON_SECONDS) >= SAME_REASON_SECONDS:
            self._said[text] = now
            self.warn(text)
