"""Messages between the supervisor and the judge or a confined program: a header, a line of JSON, and descriptors sent
with the header.

The transport is a stream socket, because the description of a suite with many cases exceeds the size of a datagram.
The kernel ends a read at the message that carried descriptors, so the descriptors belong to the header that was read
with them (unix(7)).
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Sequence

HEADER = struct.Struct("<II")
"""Bytes of JSON that follow, and the number of descriptors."""

MESSAGE_MAX = 64 << 20
DESCRIPTORS_MAX = 8


class MessageError(Exception):
    """A malformed message. The text is shown to the user."""


class ClosedError(Exception):
    """The other process closed its end."""


def send(end: socket.socket, data: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send the whole message. `end` blocks. Raises ClosedError, MessageError."""
    if len(data) > MESSAGE_MAX:
        raise MessageError(f"a message of {len(data)} bytes is over the limit of {MESSAGE_MAX}")
    try:
        header = HEADER.pack(len(data), len(descriptors))
        sent = socket.send_fds(end, [header], list(descriptors)) if descriptors else 0
        rest = header[sent:] + data
        if rest:  # else the other side has the whole message, and may have closed its end
            end.sendall(rest)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


def receive(
    end: socket.socket, deadline: float | None = None, most: int = DESCRIPTORS_MAX
) -> tuple[bytes, tuple[int, ...]]:
    """The next message and its descriptors, at most `most`, which the caller closes.

    Raises ClosedError, MessageError, and TimeoutError when `deadline` of the monotonic clock passes. Every descriptor
    is closed before an exception is raised.
    """
    descriptors: list[int] = []
    try:
        header = _exactly(end, HEADER.size, deadline, descriptors, most)
        size, count = HEADER.unpack(header)
        if size > MESSAGE_MAX or count != len(descriptors):
            raise MessageError(
                f"a header announces {size} bytes and {count} descriptors ({len(descriptors)} came)"
            )
        return _exactly(end, size, deadline, None), tuple(descriptors)
    except BaseException:
        for each in descriptors:
            os.close(each)
        raise


def _exactly(
    end: socket.socket, size: int, deadline: float | None, descriptors: list[int] | None, most: int = 0
) -> bytes:
    """Read `size` bytes; append descriptors that come with them to the list, if given."""
    received = bytearray()
    while len(received) < size:
        _wait(end, deadline)
        chunk_bytes = min(size - len(received), 1 << 20)
        try:
            if descriptors is None:
                data = end.recv(chunk_bytes)
            else:
                data, came, _, _ = socket.recv_fds(end, chunk_bytes, most, socket.MSG_CMSG_CLOEXEC)
                descriptors.extend(came)
        except ConnectionResetError as error:
            raise ClosedError from error
        if not data:
            raise ClosedError
        received += data
    return bytes(received)


def _wait(end: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        return
    poll = select.poll()  # select() cannot wait for descriptors over 1023
    poll.register(end, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError
