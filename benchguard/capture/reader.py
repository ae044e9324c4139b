"""Opens a capture file: hostile bytes until they have been checked, which is before anyone sees them."""

from __future__ import annotations

import hashlib
import os
import stat
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from .check import check
from .codec import MalformedError
from .errors import CaptureError
from .layout import Kind
from .model import (
    Allocation,
    Content,
    Device,
    Edge,
    End,
    Global,
    Image,
    Kernel,
    Limit,
    Meta,
    Module,
    Operation,
    Range,
    Refusal,
    Relocation,
    Run,
    Stream,
)
from .sections import Limits, read_sections
from .table import SpanData, Table


class Capture:
    """What a region did, read from a file and checked. Use one in one thread at a time, and close it.

    with benchguard.Capture.open("x.ncap") as capture:
        for operation in capture.operations: ...
    """

    def __init__(self, path: Path, descriptor: int, limits: Limits) -> None:
        sections = read_sections(descriptor, limits)
        self.path = path
        self.limits = limits
        self.name = sections.name
        self.blobs = sections.blobs
        self.file_bytes = os.fstat(descriptor).st_size
        self._descriptor = descriptor
        self._tables = sections.tables
        self._data = SpanData(self._tables.get(Kind.DATA, b""))
        self._memory = check(self)

    @classmethod
    def open(cls, path: str | os.PathLike[str], limits: Limits = Limits()) -> Capture:  # noqa: B008 - frozen
        """Open and check a capture. Raises CaptureError."""
        path = Path(path)
        try:
            # O_NONBLOCK: whoever gives the path of a pipe is not made to wait.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise CaptureError(f"cannot read the capture {path}: {error.strerror}; check the path") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CaptureError(f"{path}: not a file; give the path of a capture")
            return cls(path, descriptor, limits)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, MalformedError):
                raise _refused(path, error) from error
            if isinstance(error, OSError):
                raise CaptureError(f"cannot read the capture {path}: {error.strerror}; try again") from error
            raise

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def fileno(self) -> int:
        """The open file, for a process that is to read the same one."""
        return self._descriptor

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def table(self, kind: Kind) -> Table[Any]:
        return Table(kind, self._tables.get(kind, b""), self._data)

    @cached_property
    def device(self) -> Device:
        device: Device = self.table(Kind.DEVICE)[0]
        return device

    @cached_property
    def end(self) -> End:
        end: End = self.table(Kind.END)[0]
        return end

    @cached_property
    def context_limits(self) -> Table[Limit]:
        return self.table(Kind.LIMIT)

    @cached_property
    def images(self) -> Table[Image]:
        return self.table(Kind.IMAGE)

    @cached_property
    def modules(self) -> Table[Module]:
        return self.table(Kind.MODULE)

    @cached_property
    def kernels(self) -> Table[Kernel]:
        return self.table(Kind.KERNEL)

    @cached_property
    def globals(self) -> Table[Global]:
        return self.table(Kind.GLOBAL)

    @cached_property
    def allocations(self) -> Table[Allocation]:
        return self.table(Kind.ALLOCATION)

    @cached_property
    def before(self) -> Table[Run]:
        return self.table(Kind.BEFORE)

    @cached_property
    def after(self) -> Table[Run]:
        return self.table(Kind.AFTER)

    @cached_property
    def streams(self) -> Table[Stream]:
        return self.table(Kind.STREAM)

    @cached_property
    def operations(self) -> Table[Operation]:
        return self.table(Kind.OPERATION)

    @cached_property
    def edges(self) -> Table[Edge]:
        return self.table(Kind.EDGE)

    @cached_property
    def relocations(self) -> Table[Relocation]:
        return self.table(Kind.RELOCATION)

    @cached_property
    def refusals(self) -> Table[Refusal]:
        return self.table(Kind.REFUSAL)

    @cached_property
    def ranges(self) -> Table[Range]:
        return self.table(Kind.RANGE)

    @cached_property
    def meta(self) -> dict[str, str]:
        entries: Table[Meta] = self.table(Kind.META)
        return {entry.key: entry.value for entry in entries}

    @cached_property
    def graphs(self) -> dict[int, list[int]]:
        """The nodes of every graph, as indexes of operations."""
        graphs: defaultdict[int, list[int]] = defaultdict(list)
        for index, operation in enumerate(self.operations):
            if operation.graph:
                graphs[operation.graph].append(index)
        return dict(graphs)

    @property
    def raw_bytes(self) -> int:
        """What the blobs are when they are not compressed; one that serves twice counts twice."""
        return self.blobs.raw_bytes

    @property
    def stored_bytes(self) -> int:
        return self.blobs.stored_bytes

    def chunks(self, content: Content) -> Iterator[bytes]:
        """Bulk data, a blob at a time. Raises CaptureError."""
        try:
            self.blobs.check(content)
            yield from self.blobs.chunks(content)
        except MalformedError as error:
            raise _refused(self.path, error) from error

    def content(self, content: Content) -> bytes:
        """Bulk data, whole. Raises CaptureError."""
        self._check_size(content.bytes)
        return b"".join(self.chunks(content))

    def image(self, index: int) -> bytes:
        """The bytes of an image, which are what its SHA-256 says. Raises CaptureError."""
        image = self.images[index]
        raw = self.content(image.content)
        if hashlib.sha256(raw).hexdigest() != image.sha256:
            raise _refused(
                self.path, MalformedError(f"image {index}: its bytes are not those of its SHA-256")
            )
        return raw

    def memory(self, address: int, size: int, after: bool = False) -> bytes:
        """Device memory as the region found it, or as it left it. What was never written is zero.

        Raises CaptureError if no allocation or variable holds it all.
        """
        self._check_size(size)
        try:
            variable = self._memory.holder(address, size, "memory")
        except MalformedError as error:
            raise CaptureError(f"{self.path}: {error}; `neutrino-bench inspect` lists them") from None
        if variable is not None:
            content = variable.after if after and variable.after.bytes else variable.before
            return self.content(content)[address - variable.address :][:size] or bytes(size)
        into = bytearray(size)
        for table in (self.before, self.after) if after else (self.before,):
            self._overlay(into, address, table)
        return bytes(into)

    def check_blobs(self) -> int:
        """Read every blob and compare its SHA-256; returns how many there are. Raises CaptureError."""
        try:
            for index in range(self.blobs.count):
                self.blobs.read(index)
        except MalformedError as error:
            raise _refused(self.path, error) from error
        for index in range(len(self.images)):
            self.image(index)
        return self.blobs.count

    def _overlay(self, into: bytearray, address: int, table: Table[Run]) -> None:
        """Write the runs that meet [address, address + len(into)) into it."""
        end = address + len(into)
        at = max(0, bisect_right(table, address, key=_run_address) - 1)
        while at < len(table) and (run := table[at]).address < end:
            begin, stop = max(run.address, address), min(run.address + run.bytes, end)
            if begin < stop:
                raw = b"".join(self.chunks(run.content)) or bytes(run.bytes)
                into[begin - address : stop - address] = raw[begin - run.address : stop - run.address]
            at += 1

    def _check_size(self, size: int) -> None:
        if size > self.limits.content_bytes:
            raise CaptureError(
                f"{self.path}: {size} bytes at once are more than {self.limits.content_bytes}; "
                "read it in parts, or give larger limits"
            )


def _run_address(run: Run) -> int:
    return run.address


def _refused(path: Path, error: MalformedError) -> CaptureError:
    return CaptureError(f"{path}: {error}; it is damaged or no capture of ours: record it again")
