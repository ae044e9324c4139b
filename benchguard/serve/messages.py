"""Read requests and make answers (docs/formats.md). A request is hostile input."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from ..audit.layout import FORMAT_VERSION
from ..errors import BenchguardError
from ..ipc.text import printable
from . import layout
from .layout import RequestKind, Status

REQUEST_MAX = layout.REQUEST.size + layout.COMMAND_MAX
NAME_MAX = 32
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class RequestError(BenchguardError):
    """A request that is not answered with a session. The message goes to the program's standard error."""


@dataclass(frozen=True)
class Request:
    """`surface` is the SHA-256 of the shim's surface.json, in hexadecimal. `command` is what the program claims."""

    kind: RequestKind
    surface: str
    command: tuple[str, ...]
    policy: str = ""
    """SHA-256 of the policy that the program asks for; empty: none."""

    @property
    def program(self) -> str:
        """The command's file name, fit for the name of a log."""
        base = self.command[0].rpartition("/")[2] if self.command else ""
        name = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in base)
        return name.lstrip(".")[:NAME_MAX] or "unknown"


def parse_request(data: bytes) -> Request:
    """Raises RequestError."""
    if len(data) < layout.REQUEST.size or len(data) > REQUEST_MAX:
        raise RequestError("a request has the wrong size; use a shim of this version")
    magic, version, kind, surface, record_format, _, size = layout.REQUEST.unpack_from(data)
    if magic != layout.MAGIC:
        raise RequestError("a request has an unknown format; use a shim of this version")
    if version != layout.VERSION or kind not in list(RequestKind):
        raise RequestError("the shim is of another version; build it again with `neutrino-bench build`")
    if kind != RequestKind.LIST and record_format != FORMAT_VERSION:
        raise RequestError(
            f"the shim writes records of format {record_format}, not {FORMAT_VERSION}; "
            "build it again with `neutrino-bench build`"
        )
    command = data[layout.REQUEST.size :]
    if size != len(command):
        raise RequestError("a request has the wrong size; use a shim of this version")
    policy = ""
    if kind == RequestKind.ATTACH_WITH_POLICY:
        policy = _decode(command[: layout.POLICY_BYTES])
        command = command[layout.POLICY_BYTES :]
        if _DIGEST.fullmatch(policy) is None:
            raise RequestError("NEUTRINO_POLICY is not a SHA-256; take it from `neutrino-bench env --policy`")
    words = command.removesuffix(b"\0").split(b"\0") if command else []
    return Request(RequestKind(kind), surface.hex(), tuple(_decode(word) for word in words), policy)


def _decode(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")


def list_request() -> bytes:
    """A request for the list of programs."""
    return layout.REQUEST.pack(layout.MAGIC, layout.VERSION, RequestKind.LIST, bytes(32), 0, 0, 0)


def granted(text: str = "") -> bytes:
    """An answer that the session's descriptor, or the list of programs, comes with."""
    return _answer(Status.GRANTED, text.encode())


def refused(reason: str) -> bytes:
    return _answer(Status.REFUSED, printable(reason).encode("ascii", "replace")[: layout.TEXT_MAX])


def _answer(status: Status, text: bytes) -> bytes:
    return layout.ANSWER.pack(layout.MAGIC, layout.VERSION, status, len(text)) + text


def parse_answer(data: bytes) -> tuple[Status, str]:
    """The status and the text of an answer. Raises BenchguardError."""
    try:
        magic, version, status, size = layout.ANSWER.unpack_from(data)
        text = data[layout.ANSWER.size :].decode()
        if (magic, version, size) != (layout.MAGIC, layout.VERSION, len(data) - layout.ANSWER.size):
            raise ValueError
        return Status(status), text
    except (ValueError, struct.error) as error:
        raise BenchguardError("the service is of another version; start one of this version") from error
