"""The cases of a problem, sent to the runner while it imports or compiles the submission.

The problem may not be open yet when the quarantine starts, so the cases are not part of the Order.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from ..errors import BenchguardError
from .contract import Cases

CASES_BYTES_MAX = 16 << 20


class CaseSender:
    """Calls `find` in a thread and sends the result. The runner inherits the socket `theirs`.

    The caller of `find` keeps the descriptor `inputs`; the runner receives a read-only one.
    """

    def __init__(self, find: Callable[[], Cases]) -> None:
        self._find = find
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._cases: Cases | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="cases", daemon=True)

    @property
    def theirs(self) -> int:
        return self._theirs.fileno()

    def __enter__(self) -> CaseSender:
        return self

    def __exit__(self, *_: object) -> None:
        self._theirs.close()
        self._ours.close()

    def start(self) -> None:
        self._thread.start()

    def result(self) -> Cases:
        """Return the value of `find`, or raise its exception. Call this when the runner has ended."""
        self._theirs.close()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._cases is not None
        return self._cases

    def _run(self) -> None:
        try:
            self._cases = cases = self._find()
            with _read_only(cases.inputs) as inputs:
                self._send(msgspec.json.encode(cases) + b"\n", inputs)
        except BaseException as failure:  # result() raises it
            self._failure = failure
        finally:
            self._ours.close()  # so that a waiting runner sees the end of the stream

    def _send(self, line: bytes, inputs: int) -> None:
        try:
            sent = socket.send_fds(self._ours, [line], [inputs])
            self._ours.sendall(line[sent:])
        except OSError:
            return  # the runner has ended, and its events say why


def receive_cases(channel: int) -> Cases | None:
    """Wait for the cases, in the runner. None if none come, because the problem could not be opened."""
    descriptors: list[int] = []
    with socket.socket(fileno=channel) as end:
        line = b""
        while not line.endswith(b"\n"):
            data, cases, _, _ = socket.recv_fds(end, 1 << 16, 4, socket.MSG_CMSG_CLOEXEC)
            descriptors += cases
            line += data
            if not data or len(line) > CASES_BYTES_MAX:
                return None
    if not descriptors:
        return None
    for extra in descriptors[1:]:
        os.close(extra)
    return msgspec.structs.replace(msgspec.json.decode(line, type=Cases), inputs=descriptors[0])


@contextmanager
def _read_only(descriptor: int) -> Iterator[int]:
    """The same file opened for reading. Its mode keeps other users from opening it for writing through /proc."""
    try:
        os.fchmod(descriptor, 0o444)
        opened = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise BenchguardError(f"the throw-away inputs cannot be opened: {error.strerror}") from error
    try:
        yield opened
    finally:
        os.close(opened)
