"""Record one program: the code of a recorder, a process that the service forks for each program."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..audit.cordon import Cordon
from ..audit.log import LogWriter
from ..audit.recorder import Recorder, Recording
from ..audit.session import Session
from ..errors import BenchguardError
from ..ipc.processes import end_with
from ..shim.interposer import Interposer
from .messages import granted, refused
from .peer import Peer

REPORT_MAX = 1 << 14
MEMORY_BYTES = 4 << 30
"""Limit of one recorder, besides the shared memory. A program that invents endless kernels loses only its own log."""
IDLE_SECONDS = 0.03
"""Between two looks at an idle program. Many programs are idle; each look of each recorder takes time of a core."""
ATTACH_SECONDS = 0.5
"""Time for a shim to map its session. A process with two shims attaches twice, and keeps both sessions."""
FINISH, ATTACHED_AGAIN = ORDERS = signal.SIGTERM, signal.SIGUSR1
IGNORED = signal.SIGINT, signal.SIGHUP
"""A terminal sends them to all processes. The service says when a recorder finishes."""


class Report(msgspec.Struct, frozen=True):
    """A recorder's message to the service at its end. `error` is empty if the log was written to its end."""

    launches: int = 0
    complete: bool = False
    head: str = ""
    error: str = ""


@dataclass(frozen=True)
class Program:
    """A program that a service records."""

    peer: Peer
    name: str
    command: tuple[str, ...]
    interposer: Interposer
    log: Path
    log_bytes: int
    part_bytes: int | None
    """Bytes of a file of the log; None: one file."""
    memory: int
    """Bytes of shared memory for code images."""
    cordon: Cordon | None
    """The policy that the program obeys."""


def fork_recorder(program: Program, connection: socket.socket, version: str) -> tuple[int, int]:
    """Start a recorder. Returns its process and the descriptor that its report comes from. Raises OSError."""
    reader, writer = os.pipe()
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*ORDERS, *IGNORED))  # until the child has handlers
    try:
        child = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reader)
        os.close(writer)
        raise
    if child:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writer)
        return child, reader
    status = 1
    try:
        _close_all_but({connection.fileno(), program.peer.handle, writer})
        orders, _wake = _receive_orders()  # open until the process exits: an order may still come
        report = _record(program, connection, version, parent, orders)
        os.write(writer, msgspec.json.encode(report)[:REPORT_MAX])
        status = 0
    finally:
        os._exit(status)


def _close_all_but(kept: Iterable[int]) -> None:
    """Close the service's descriptors: its listener, and those of other programs."""
    kept = {0, 1, 2, *kept}
    for descriptor in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if descriptor not in kept:
            with contextlib.suppress(OSError):  # the one that the folder itself was read with
                os.close(descriptor)


def _receive_orders() -> tuple[socket.socket, socket.socket]:
    """Write the signals of the service to a socket. Returns its reading end and its writing end."""
    orders, wake = socket.socketpair()
    for end in (orders, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    for number in ORDERS:
        signal.signal(number, lambda *_: None)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    return orders, wake


def _record(
    program: Program, connection: socket.socket, version: str, parent: int, orders: socket.socket
) -> Report:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (*ORDERS, *IGNORED))
    end_with(parent, FINISH)
    try:
        log = LogWriter(program.log, most_bytes=program.log_bytes, part_bytes=program.part_bytes)
    except BenchguardError as error:
        return _refuse(connection, str(error))
    try:
        session = Session(image_bytes=program.memory, cordon=program.cordon)
    except BenchguardError as error:
        return _refuse(connection, str(error))
    recorder = Recorder(session, program.interposer, log, idle_seconds=IDLE_SECONDS)
    peer = program.peer
    recorder.start(
        program.command, version, {"process": peer.process, "user": peer.user, "group": peer.group}
    )
    with contextlib.suppress(OSError):  # a program that is gone has ended, too
        socket.send_fds(connection, [granted()], [session.descriptor])
    connection.close()
    has_ended = _wait(peer, orders, os.fstat(session.descriptor).st_ino)
    recording = recorder.end(None, outlived=() if has_ended else (peer.process,))
    return _report(recording, log)


def _refuse(connection: socket.socket, reason: str) -> Report:
    with contextlib.suppress(OSError):
        connection.send(refused(reason))
    return Report(error=reason)


def _wait(peer: Peer, orders: socket.socket, inode: int) -> bool:
    """Wait for the program's end, and return True; or for the service's order to finish, and return False."""
    poll = select.poll()
    poll.register(peer.handle, select.POLLIN)
    poll.register(orders, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if peer.handle in ready:
            return True
        numbers = set(orders.recv(64)) if orders.fileno() in ready else set()
        if FINISH in numbers:
            return False
        if ATTACHED_AGAIN in numbers:
            time.sleep(ATTACH_SECONDS)
            if not peer.maps(inode):
                return True  # it executed another program, which has a session of its own


def _report(recording: Recording, log: LogWriter) -> Report:
    return Report(
        launches=recording.totals.launches + recording.totals.graph_launches,
        complete=recording.complete,
        head=log.head.decode(),
        error=recording.log_error or "",
    )
