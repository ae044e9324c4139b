"""Processes that make input sets, forked from the judge after it has opened the problem, with all of its modules.

An exception in a worker is raised again in the judge. A worker that dies takes the judge with it, with the same status,
so that the supervisor sees what the problem's code did. A worker's only descriptor is its socket; the pool and the
memory for answers come with each order.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
import socket
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np

from ..errors import UsageError
from ..ipc.messages import ClosedError, receive, send
from ..ipc.processes import protect
from ..ipc.shared_memory import READ_ONLY, Bytes, SharedMemory
from ..problem.spec import ALIGNMENT, CaseSpec
from ..problem.suite import TestCase
from ..problem.threads import shared_threads, threads
from .formats import Array
from .making import WIDE, Failed, Made, Maker, Order, expected_arrays, made_of, room_for
from .reference import SpillError
from .room import ROOM
from .troubles import FaultError, error_text

SHARE_OF_WORKERS = 4
"""If memory suffices for less than this part of the workers, this process makes the sets: torch has one thread in each
worker, and all threads here."""

MAPS = Path("/proc/self/maps")
DRIVERS = ("/libcuda.so", "/libamdhip64.so")


class _Task(msgspec.Struct, frozen=True):
    order: Order
    answers: int
    """Offset in the answers' memory."""


class _Done(msgspec.Struct, frozen=True, tag=True):
    digests: dict[str, bytes]
    dtypes: dict[str, str]
    """Dtypes of the answers, by buffer."""
    factors: dict[str, float]
    distribution: str
    zeros: frozenset[str]
    refused: str


class _Fault(msgspec.Struct, frozen=True, tag=True):
    text: str
    usage: bool = False
    spill: bool = False

    def error(self) -> Exception:
        if self.spill:
            return SpillError()
        return UsageError(self.text) if self.usage else FaultError(self.text)


_encode = msgspec.json.Encoder().encode
_decode_task = msgspec.json.Decoder(_Task).decode
_decode_reply = msgspec.json.Decoder(_Done | _Fault).decode


def can_fork() -> bool:
    """Whether workers can be used: not after a GPU driver is loaded, because its state does not survive a fork.

    References that are computed on a GPU would not gain from more CPU processes anyway.
    """
    mapped = MAPS.read_text(encoding="utf-8", errors="replace")
    return not any(driver in mapped for driver in DRIVERS)


class Workers:
    """A making.Maker that distributes orders among forked processes, or gives those for large sets to `here`."""

    def __init__(self, cases: Sequence[TestCase], count: int, here: Maker) -> None:
        self._cases, self._here = cases, here
        self._places = [_places(case.spec) for case in cases]
        self._ends: list[socket.socket] = []
        self._children: list[int] = []
        self._lock = threading.Lock()
        with shared_threads(max(1, threads() // count)), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the listening thread holds no lock
            for _ in range(count):
                try:
                    self._fork()
                except OSError:  # the limit of processes is reached
                    if not self._ends:
                        raise
                    break

    def _fork(self) -> None:
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            for each in (*self._ends, ours):
                each.close()
            _work(theirs, parent, self._cases)
        theirs.close()
        self._ends.append(ours)
        self._children.append(child)

    def make(self, orders: Sequence[Order], pool: SharedMemory) -> list[Made | Failed]:
        with self._lock:  # streaming.py makes sets in a thread
            room = room_for(self._cases, orders)
            if room < max(2, len(self._ends) // SHARE_OF_WORKERS):
                return self._here.make(orders, pool)
            return self._make(orders, pool, min(len(self._ends), room))

    def _make(self, orders: Sequence[Order], pool: SharedMemory, count: int) -> list[Made | Failed]:
        sizes = [self._places[each.case][1] if each.answers else 0 for each in orders]
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        answers = SharedMemory("neutrino-answers", sum(sizes))
        try:
            tasks = [_Task(order, start) for order, start in zip(orders, starts, strict=True)]
            replies = self._replies(tasks, [pool.descriptor, answers.descriptor], count)
            answers.seal(READ_ONLY)
            memory = answers.view() if answers.size else np.zeros(0, np.uint8)
        finally:
            answers.close()
        results: list[Made | Failed] = []
        for each, reply in zip(tasks, replies, strict=False):
            if isinstance(reply, _Fault):
                return [*results, Failed(reply.error())]
            answered = self._answers(each, reply.dtypes, memory)
            results.append(
                Made(reply.digests, answered, reply.factors, reply.distribution, reply.zeros, reply.refused)
            )
        return results

    def close(self) -> None:
        """Close the sockets, at which the workers end, and wait for them."""
        for each in self._ends:
            each.close()
        for child in self._children:
            os.waitpid(child, 0)

    def _replies(
        self, tasks: Sequence[_Task], descriptors: Sequence[int], count: int
    ) -> list[_Done | _Fault]:
        """Replies of `count` workers, in the order of `tasks`, up to the first fault."""
        busy: dict[int, int] = {}  # worker: index of its order
        replies: dict[int, _Done | _Fault] = {}
        due = iter(range(len(tasks)))
        poll = select.poll()
        for end in self._ends[:count]:
            poll.register(end, select.POLLIN)
        numbers = {end.fileno(): worker for worker, end in enumerate(self._ends)}

        def give(worker: int) -> None:
            number = next(due, None)
            if number is not None:
                busy[worker] = number
                send(self._ends[worker], _encode(tasks[number]), descriptors)

        worker = 0
        with _passing_on_aborts(lambda: [self._children[each] for each in busy]):
            try:
                for worker in range(count):
                    give(worker)
                while busy:
                    for ready, _ in poll.poll():
                        worker = numbers[ready]
                        data, _ = receive(self._ends[worker])
                        reply = replies[busy.pop(worker)] = _decode_reply(data)
                        if isinstance(reply, _Fault):
                            due = iter(())  # give out no more orders
                        ROOM.filled()
                        give(worker)
            except ClosedError:
                _die_like(self._children[worker])
        first = next(
            (number for number in sorted(replies) if isinstance(replies[number], _Fault)), len(tasks)
        )
        return [replies[number] for number in sorted(replies) if number <= first]

    def _answers(self, task: _Task, dtypes: Mapping[str, str], memory: Bytes) -> dict[str, Array]:
        """Flat views of the answers that a worker kept."""
        places, _ = self._places[task.order.case]
        arrays = {}
        for name, dtype in dtypes.items():
            start, count = places[name]
            size = count * np.dtype(dtype).itemsize
            arrays[name] = memory[task.answers + start :][:size].view(dtype)
        return arrays


def _places(spec: CaseSpec) -> tuple[dict[str, tuple[int, int]], int]:
    """Offset and number of elements of each answer of a set, and the total size in bytes."""
    places, offset = {}, 0
    for each in spec.checked:
        count = int(np.prod(each.shape, dtype=np.int64))
        places[each.name] = (offset, count)
        offset += -(-count * WIDE // ALIGNMENT) * ALIGNMENT
    return places, offset


def _work(end: socket.socket, parent: int, cases: Sequence[TestCase]) -> NoReturn:
    """The worker's main loop. Does not return."""
    try:
        protect(parent)
        places = [_places(case.spec)[0] for case in cases]
        while True:
            data, (pool, answers) = receive(end)
            task = _decode_task(data)
            reply = _compute(cases[task.order.case], task, pool, answers, places[task.order.case])
            send(end, _encode(reply))
    except ClosedError:
        os._exit(0)  # no more orders
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def _compute(
    case: TestCase, task: _Task, pool: int, answers: int, places: Mapping[str, tuple[int, int]]
) -> _Done | _Fault:
    inputs, outputs = SharedMemory.adopt(pool), SharedMemory.adopt(answers)
    try:
        made = made_of(case, task.order, inputs)
        arrays = expected_arrays(case, task.order, made.answers)
        for name, array in arrays.items():
            outputs.write(array, task.answers + places[name][0])
        dtypes = {name: array.dtype.str for name, array in arrays.items()}
        return _Done(dict(made.digests), dtypes, made.factors, made.distribution, made.zeros, made.refused)
    except SpillError:
        return _Fault("", spill=True)
    except (Exception, SystemExit) as error:
        return _Fault(error_text(error), usage=isinstance(error, UsageError))
    finally:
        inputs.close()
        outputs.close()


@contextlib.contextmanager
def _passing_on_aborts(busy: Any) -> Iterator[None]:
    """Forward SIGABRT to a busy worker, so that its traceback reaches stderr."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def abort(*_: object) -> None:
        for child in busy()[:1]:
            os.kill(child, signal.SIGABRT)

    signal.signal(signal.SIGABRT, abort)
    try:
        yield
    finally:
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        if faulthandler.is_enabled():
            faulthandler.disable()  # enable() does nothing if it believes that its handlers are installed
            faulthandler.enable()


def _die_like(child: int) -> NoReturn:
    """End this process with the child's exit status or signal, and print nothing."""
    try:
        _, status = os.waitpid(child, 0)
    except ChildProcessError:
        os._exit(1)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        faulthandler.disable()
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
