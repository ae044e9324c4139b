"""Messages with descriptors, to a process that closes its end as soon as it has them."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from benchguard.ipc import messages
from benchguard.ipc.messages import ClosedError, receive, send


def test_message_of_descriptors_alone_ends_when_the_other_side_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The receiver closes its end before the sender's next system call."""
    ours, theirs = socket.socketpair()
    send_fds = socket.send_fds
    received: list[tuple[bytes, tuple[int, ...]]] = []

    def send_and_close(*arguments: Any) -> int:
        sent = send_fds(*arguments)
        received.append(receive(theirs))
        theirs.close()
        return sent

    monkeypatch.setattr(messages.socket, "send_fds", send_and_close)
    with ours, open(os.devnull) as file:  # noqa: PTH123
        send(ours, b"", [file.fileno()])
    data, (descriptor,) = received[0]
    os.close(descriptor)
    assert data == b""


def test_message_to_a_side_that_is_closed_is_refused() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(ClosedError):
        send(ours, b"data")
