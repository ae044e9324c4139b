"""Plays the measured process: claims a ring and appends records, byte by byte as hook/core does."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from benchguard.audit import layout
from benchguard.audit.layout import RecordKind, RingState
from benchguard.audit.session import Session
from benchguard.ipc.processes import process_start


def record(
    kind: int,
    body: bytes = b"",
    *,
    slot: int = 0,
    begin: int = 1000,
    end: int = 2000,
    result: int = 0,
    count: int = 0,
) -> bytes:
    """One record, padded to a multiple of eight bytes."""
    body += bytes(-len(body) % 8)
    return layout.RECORD.pack(layout.RECORD.size + len(body), kind, slot, begin, end, result, count) + body


def call(*arguments: int, slot: int = 0, **times: int) -> bytes:
    body = struct.pack(f"<{len(arguments)}Q", *arguments)
    return record(RecordKind.CALL, body, slot=slot, count=len(arguments), **times)


def repeated(repeats: int, *arguments: int, slot: int = 0, **times: int) -> bytes:
    body = layout.REPEATED.pack(repeats) + struct.pack(f"<{len(arguments)}Q", *arguments)
    return record(RecordKind.REPEATED, body, slot=slot, count=len(arguments), **times)


def kernel(
    number: int, name: bytes, parameters: list[tuple[int, int]], image: int = 0, **times: int
) -> bytes:
    body = layout.KERNEL.pack(number, 0x5000 + number, image, 32, 0, 0, 0, 1024, 90, 1, len(name))
    body += b"".join(layout.PARAMETER.pack(*parameter) for parameter in parameters) + name
    return record(RecordKind.KERNEL, body, count=len(parameters), **times)


def launch(
    number: int, parameters: bytes = b"", attributes: list[tuple[int, bytes]] | None = None, **times: int
) -> bytes:
    attributes = attributes or []
    body = layout.LAUNCH.pack(number, 0x77, 4, 1, 1, 256, 1, 1, 64, 0, len(parameters), len(parameters))
    body += (
        b"".join(layout.ATTRIBUTE.pack(identifier, value) for identifier, value in attributes) + parameters
    )
    return record(RecordKind.LAUNCH, body, count=len(attributes), **times)


def image(
    number: int, handle: int, stored_at: int, size: int, origin: bytes = b"libsome.so", **times: int
) -> bytes:
    body = layout.IMAGE.pack(number, handle, size, stored_at, 1, 1, len(origin), 0) + origin
    return record(RecordKind.IMAGE, body, **times)


class RingWriter:
    """A thread of a process, as far as a ring knows it."""

    def __init__(self, session: Session, index: int = 0, process: int | None = None, thread: int = 1) -> None:
        self.session, self.at = session, session.ring_at(index)
        self.process = process if process is not None else os.getpid()
        self.started = process_start(self.process) or 1
        namespace = Path("/proc/self/ns/pid").stat().st_ino
        identity = layout.RING_IDENTITY.pack(
            RingState.LIVE, self.process, thread, self.started, namespace, 500, 1_000_000
        )
        start = self.at + layout.RING_IDENTITY_AT
        session.memory[start : start + len(identity)] = identity

    def _word(self, offset: int) -> int:
        return int.from_bytes(self.session.memory[self.at + offset : self.at + offset + 8], "little")

    def _set_word(self, offset: int, value: int) -> None:
        self.session.memory[self.at + offset : self.at + offset + 8] = value.to_bytes(8, "little")

    @property
    def head(self) -> int:
        return self._word(0)

    @head.setter
    def head(self, value: int) -> None:
        self._set_word(0, value)

    @property
    def tail(self) -> int:
        return self._word(layout.RING_TAIL_AT)

    def set_in_flight(self, slot: int, since: int) -> None:
        struct.pack_into("<QQ", self.session.memory, self.at + 16, slot + 1, since)

    def drop(self, records: int) -> None:
        self._set_word(8, records)

    def enter(self, slot: int, since: int) -> None:
        self._set_word(16, slot + 1)
        self._set_word(24, since)

    def count(self, data: bytes) -> None:
        """Append a record that still counts: it lies at head, unpublished."""
        head = self.head
        self.write(data)
        self._set_word(32, self.head)
        self.head = head

    def set_state(self, state: int) -> None:
        start = self.at + layout.RING_IDENTITY_AT
        self.session.memory[start : start + 4] = state.to_bytes(4, "little")

    @property
    def state(self) -> int:
        start = self.at + layout.RING_IDENTITY_AT
        return int.from_bytes(self.session.memory[start : start + 4], "little")

    def write(self, data: bytes) -> None:
        """Append, across the end of the ring if need be."""
        capacity, data_at = self.session.ring_bytes, self.at + layout.PAGE
        assert self.head - self.tail + len(data) <= capacity, "a real writer would wait"
        start = self.head % capacity
        first = data[: capacity - start]
        self.session.memory[data_at + start : data_at + start + len(first)] = first
        rest = data[len(first) :]
        self.session.memory[data_at : data_at + len(rest)] = rest
        self.head += len(data)
