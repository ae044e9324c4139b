"""How a message travels between supervisor and judge: a header, a line of JSON, and descriptors with the header.

A stream and not datagrams: what a suite of many cases says is larger than a datagram may be. The kernel ends a
read at the message that descriptors came with, so they belong to the header that was read with them (unix(7)).
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Sequence

HEADER = struct.Struct("<II")
"""Bytes of JSON that follow, and how many descriptors came."""

MESSAGE_MAX = 16 << 20
DESCRIPTORS_MAX = 8


class MessageError(Exception):
    """What came is no message. The text is for people."""


class ClosedError(Exception):
    """The other side is gone."""


def send(end: socket.socket, data: bytes, descriptors: Sequence[int] = ()) -> None:
    """All of it, or ClosedError. `end` blocks."""
    if len(data) > MESSAGE_MAX:
        raise MessageError(f"a message of {len(data)} bytes is over the limit of {MESSAGE_MAX}")
    try:
        header = HEADER.pack(len(data), len(descriptors))
        sent = socket.send_fds(end, [header], list(descriptors)) if descriptors else 0
        end.sendall(header[sent:] + data)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


def receive(end: socket.socket, deadline: float | None = None) -> tuple[bytes, tuple[int, ...]]:
    """The next message and its descriptors, which are the caller's to close.

    Raises ClosedError, MessageError, and TimeoutError if it is not there by `deadline`, by the monotonic clock; no
    descriptor is left open then.
    """
    descriptors: list[int] = []
    try:
        header = _exactly(end, HEADER.size, deadline, descriptors)
        size, count = HEADER.unpack(header)
        if size > MESSAGE_MAX or count != len(descriptors):
            raise MessageError(
                f"a header tells of {size} bytes and {count} descriptors ({len(descriptors)} came)"
            )
        return _exactly(end, size, deadline, None), tuple(descriptors)
    except BaseException:
        for each in descriptors:
            os.close(each)
        raise


def _exactly(end: socket.socket, size: int, deadline: float | None, descriptors: list[int] | None) -> bytes:
    """`size` bytes; descriptors that come with them are added to the list, where there is one."""
    found = bytearray()
    while len(found) < size:
        _wait(end, deadline)
        wanted = min(size - len(found), 1 << 20)
        try:
            if descriptors is None:
                data = end.recv(wanted)
            else:
                data, came, _, _ = socket.recv_fds(end, wanted, DESCRIPTORS_MAX, socket.MSG_CMSG_CLOEXEC)
                descriptors.extend(came)
        except ConnectionResetError as error:
            raise ClosedError from error
        if not data:
            raise ClosedError
        found += data
    return bytes(found)


def _wait(end: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        return
    poll = select.poll()  # select() cannot wait for descriptors over 1023
    poll.register(end, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError
