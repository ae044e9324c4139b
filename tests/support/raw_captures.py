"""Raw captures as the shim writes them, made by hand: elements in any order, whole or broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchguard.capture.codec import encode
from benchguard.capture.layout import (
    ALLOCATION,
    ELEMENT,
    ELEMENTS,
    RAW_CAPTURE,
    RAW_CAPTURE_MAGIC,
    RAW_VERSION,
    Kind,
)
from benchguard.capture.model import Content, End, Run


class RawCaptureWriter:
    """Collects elements; `raw` is the file."""

    def __init__(self, process: int = 4711, region: int = 1) -> None:
        self.raw = bytearray(RAW_CAPTURE.struct.pack(RAW_CAPTURE_MAGIC, RAW_VERSION, process, region, 0))
        self.operations = 0

    def element(self, kind: int, payload: bytes) -> None:
        padded = payload + bytes(-len(payload) % 8)
        self.raw += ELEMENT.struct.pack(kind, 0, len(padded)) + padded

    def add(self, kind: Kind, element: Any, bulk: bytes = b"") -> None:
        """`bulk` are the bytes of its first content; the element is given with Content(0, 0) there."""
        size = ELEMENTS[kind].size
        data = bytearray()

        def intern(raw: bytes) -> tuple[int, int]:
            data.extend(raw)
            return size + len(data) - len(raw), len(raw)

        encode(kind, element, intern)  # how much small data there is
        at, total = size + len(data), len(bulk)
        data.clear()
        if bulk:
            name = "before" if kind is Kind.GLOBAL else "content"
            element = msgspec.structs.replace(element, **{name: Content(at, total)})
        raw = encode(kind, element, intern)
        self.operations += kind is Kind.OPERATION
        self.element(kind, raw + bytes(data) + bulk)

    def run(self, kind: Kind, address: int, memory: bytes, size: int = 0) -> None:
        """`size`: of a run for whose pages `memory`, a page or nothing, stands."""
        self.add(kind, Run(address, size or len(memory), Content(0, 0)), memory)

    def allocation(self, address: int, size: int, flags: int, slot: int) -> None:
        """As the shim writes it: the call by its slot alone."""
        self.element(Kind.ALLOCATION, ALLOCATION.struct.pack(address, size, flags, slot, 0, 0))

    def end(self, status: int = 0) -> None:
        self.add(Kind.END, End(status, self.operations))

    def write(self, path: Path) -> Path:
        path.write_bytes(self.raw)
        return path
