"""The cases of a problem, and their throw-away inputs, sent to the runner while it imports or calls the submission.

The problem may not be open yet when the quarantine starts, so the cases are not part of the Order. The inputs of all
cases may need more memory than those of any other part of a grade. So they come in batches, and the runner asks for
each: while it calls the cases of one, the next is made.
"""

from __future__ import annotations

import mmap
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import msgspec

from ..errors import BenchguardError
from ..problem.spec import Layout
from .contract import Batch, Cases

LINE_BYTES_MAX = 16 << 20
WANTED = b"."
"""The byte by which the runner asks for the next batch."""


class CaseSource(Protocol):
    """The problem."""

    def find(self) -> Cases:
        """Wait for the cases."""
        ...

    def throwaway(self, first: int) -> tuple[Batch, int]:
        """The batch that begins with case `first`, and its memfd, which the caller closes."""
        ...


class CaseSender:
    """Asks a source in a thread, and sends what it gives. The runner inherits the socket `theirs`."""

    def __init__(self, source: CaseSource) -> None:
        self._source = source
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
        """The source's cases, or its exception. Call this when the runner has ended."""
        self._theirs.close()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._cases is not None
        return self._cases

    def _run(self) -> None:
        try:
            self._cases = cases = self._source.find()
            is_there, first = self._send(msgspec.json.encode(cases), []), 0
            while is_there and first < len(cases.cases):
                batch, made = self._source.throwaway(first)
                try:
                    with _read_only(made) as inputs:
                        is_there = self._is_wanted() and self._send(msgspec.json.encode(batch), [inputs])
                finally:
                    os.close(made)
                first = batch.end
        except BaseException as failure:  # result() raises it
            self._failure = failure
        finally:
            self._ours.close()  # so that a waiting runner sees the end of the stream

    def _is_wanted(self) -> bool:
        """Wait until the runner asks for a batch. False if it has ended."""
        try:
            return self._ours.recv(len(WANTED)) != b""
        except OSError:
            return False

    def _send(self, message: bytes, descriptors: list[int]) -> bool:
        """Whether the runner was there; its events say why it was not."""
        line = message + b"\n"
        try:
            sent = socket.send_fds(self._ours, [line], descriptors)
            self._ours.sendall(line[sent:])
        except OSError:
            return False
        return True


class Receiver:
    """The runner's end of the socket."""

    def __init__(self, channel: int) -> None:
        self._end = socket.socket(fileno=channel)
        self._batch = Batch(0, (), ())
        self._memory: mmap.mmap | None = None

    def cases(self) -> Cases | None:
        """Wait for the cases. None if none come, because the problem could not be opened."""
        line, _ = self._line()
        return msgspec.json.decode(line, type=Cases) if line else None

    def throwaway(self, case: int) -> tuple[mmap.mmap | None, Layout, int] | None:
        """Memory, layout and offset of a case's throw-away sets; cases are asked for in their order.

        There is no memory if all buffers are empty. The answer is None if the problem could not make inputs.
        """
        while case >= self._batch.end:
            with suppress(OSError):  # the supervisor has closed its end: no line comes
                self._end.sendall(WANTED)
            line, descriptors = self._line()
            if not line or not descriptors:
                return None
            self._batch = msgspec.json.decode(line, type=Batch)
            self._memory = None  # before the next one is mapped
            size = os.fstat(descriptors[0]).st_size
            # Private and writable because ctypes requires it. The runner writes nothing to it.
            self._memory = mmap.mmap(descriptors[0], size, flags=mmap.MAP_PRIVATE) if size else None
            os.close(descriptors[0])
        number = case - self._batch.first
        return self._memory, self._batch.layouts[number], self._batch.offsets[number]

    def _line(self) -> tuple[bytes, list[int]]:
        """The next line and the descriptors beside it. No line at the end of the stream."""
        line = b""
        descriptors: list[int] = []
        while not line.endswith(b"\n"):
            try:
                data, more, _, _ = socket.recv_fds(self._end, 1 << 16, 4, socket.MSG_CMSG_CLOEXEC)
            except ConnectionResetError:  # it closed its end before it read that a batch is wanted
                return b"", descriptors
            descriptors += more
            line += data
            if not data or len(line) > LINE_BYTES_MAX:
                return b"", descriptors
        return line, descriptors


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
