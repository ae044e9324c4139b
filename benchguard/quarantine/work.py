"""The work of a program that waits (waiting.py): a message and descriptors, on a socket that the program inherits."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from ..ipc.messages import MessageError, receive, send

_AT_ONCE = 200
"""Descriptors of one message. The kernel takes up to 253 (SCM_MAX_FD in unix(7))."""


class _Work(msgspec.Struct, frozen=True):
    argument: msgspec.Raw
    descriptors: tuple[int, ...]
    """The sender's numbers, by which `argument` names them."""


@dataclass(frozen=True)
class Work:
    """`descriptors` has this process's number of each descriptor, by the sender's."""

    argument: bytes
    descriptors: Mapping[int, int]


def send_work(end: socket.socket, argument: bytes, descriptors: Sequence[int] = ()) -> None:
    """Raises ClosedError, MessageError, and TimeoutError if `end` has a time limit."""
    send(end, msgspec.json.encode(_Work(msgspec.Raw(argument), tuple(descriptors))))
    rest = iter(descriptors)
    while some := tuple(islice(rest, _AT_ONCE)):
        send(end, b"", some)


def receive_work(end: socket.socket) -> Work:
    """Raises ClosedError, MessageError. The descriptors are the caller's."""
    data, _ = receive(end)
    work = msgspec.json.decode(data, type=_Work)
    numbers: list[int] = []
    while len(numbers) < len(work.descriptors):
        _, some = receive(end, most=_AT_ONCE)
        if not some:
            raise MessageError(f"{len(numbers)} of {len(work.descriptors)} descriptors came")
        numbers += some
    return Work(bytes(work.argument), dict(zip(work.descriptors, numbers, strict=True)))
