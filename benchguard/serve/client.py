"""Ask a running service for its programs."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import msgspec

from ..errors import BenchguardError
from .layout import Status
from .messages import list_request, parse_answer

ANSWER_MAX = 1 << 20
SECONDS = 5.0


def list_programs(path: Path) -> dict[str, Any]:
    """The programs that the service at the socket `path` records (docs/formats.md). Raises BenchguardError."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(SECONDS)
        try:
            connection.connect(str(path))
            connection.send(list_request())
            answer = connection.recv(ANSWER_MAX)
        except OSError as error:
            raise BenchguardError(
                f"no service answers at {path}: {error.strerror or error}; start `neutrino-bench serve`"
            ) from error
    if not answer:
        raise BenchguardError(
            f"the service at {path} closed the connection: it ends, or has too many programs for one answer; try again"
        )
    status, text = parse_answer(answer)
    if status != Status.GRANTED:
        raise BenchguardError(f"the service at {path} refuses: {text}")
    document: dict[str, Any] = msgspec.json.decode(text)
    return document
