"""The cases of an order that was given before they were known: sent by the supervisor, taken by the runner."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import msgspec

from ..errors import BenchguardError
from ..problem.spec import CaseSpec, Layout
from .contract import LATE_MAX, Late, Order


class ThrowAway(Protocol):
    """judge.contract.Throwaway."""

    @property
    def layouts(self) -> tuple[Layout, ...]: ...

    @property
    def offsets(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Given:
    """Throw-away sets for each case, in the memory behind `inputs`, which stays the caller's."""

    cases: Sequence[CaseSpec]
    throwaway: ThrowAway
    inputs: int


@dataclass(frozen=True)
class _NoSets:
    layouts: tuple[Layout, ...] = ()
    offsets: tuple[int, ...] = ()


NOTHING = Given((), _NoSets(), -1)


@contextmanager
def reading(descriptor: int) -> Iterator[int]:
    """Opened again for reading alone, and so that who has it cannot open it otherwise either; -1 for none."""
    if descriptor < 0:
        yield -1
        return
    try:
        os.fchmod(descriptor, 0o444)
        opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise BenchguardError(f"the throw-away inputs cannot be opened: {error.strerror}") from error
    try:
        yield opened
    finally:
        os.close(opened)


class Sender:
    """Asks `find` for what is given, in a thread, and sends it. `theirs` is the runner's end of the socket."""

    def __init__(self, find: Callable[[], Given]) -> None:
        self._find = find
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._given: Given | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="late", daemon=True)

    @property
    def theirs(self) -> int:
        return self._theirs.fileno()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self._theirs.close()
        self._ours.close()

    def start(self) -> None:
        self._thread.start()

    def result(self) -> Given:
        """What was found. Raises what `find` raised. To be called once the runner has ended."""
        self._theirs.close()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._given is not None
        return self._given

    def _run(self) -> None:
        try:
            self._given = given = self._find()
            late = Late(tuple(given.cases), given.throwaway.layouts, given.throwaway.offsets)
            with reading(given.inputs) as inputs:
                self._send(msgspec.json.encode(late) + b"\n", inputs)
        except BaseException as failure:  # handed to the thread that waits for us
            self._failure = failure
        finally:
            self._ours.close()  # a runner that still waits is told that nothing comes

    def _send(self, line: bytes, inputs: int) -> None:
        try:
            sent = socket.send_fds(self._ours, [line], [inputs])
            self._ours.sendall(line[sent:])
        except OSError:
            return  # it has ended; why, it has said elsewhere


def complete(order: Order) -> Order | None:
    """The order with its cases, waited for. None if none come: the problem could not be opened, as others say."""
    if order.late < 0:
        return order
    descriptors: list[int] = []
    with socket.socket(fileno=order.late) as channel:
        line = b""
        while not line.endswith(b"\n"):
            data, found, _, _ = socket.recv_fds(channel, 1 << 16, 4, socket.MSG_CMSG_CLOEXEC)
            descriptors += found
            line += data
            if not data or len(line) > LATE_MAX:
                return None
    if not descriptors:
        return None
    for extra in descriptors[1:]:
        os.close(extra)
    late = msgspec.json.decode(line, type=Late)
    return msgspec.structs.replace(
        order,
        cases=late.cases,
        layouts=late.layouts,
        offsets=late.offsets,
        inputs=descriptors[0],
        late=-1,
    )
