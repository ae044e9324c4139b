"""Opens a capture file, which is hostile until the validator has checked it."""

from __future__ import annotations

import hashlib
import os
import stat
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from types import TracebackType

from .. import exit_status
from .blobs import Blobs
from .codec import MalformedError
from .errors import CaptureError
from .extents import Joined
from .layout import AllocationFlag
from .model import Content, Global, Run
from .table import Table
from .tables import Tables
from .validate import Limits, validate


class Capture(Tables):
    """A region's work, read from a file and checked. Use a Capture in one thread at a time, and close it.

    with benchguard.Capture.open("x.ncap") as capture:
        for operation in capture.operations: ...
    """

    def __init__(self, path: Path, descriptor: int, limits: Limits) -> None:
        sections = validate(descriptor, limits)
        super().__init__(sections)
        self.path = path
        self.limits = limits
        self.blobs = Blobs(descriptor, sections.blob_table)
        self.file_bytes = os.fstat(descriptor).st_size
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: str | os.PathLike[str], limits: Limits = Limits()) -> Capture:  # noqa: B008 - frozen
        """Open and check a capture file.

        Args:
            path: the file.
            limits: limits on what reading it may cost.

        Raises:
            CaptureError: the file is missing, damaged, hostile, larger than `limits`, or cannot be checked here.
        """
        path = Path(path)
        try:
            # O_NONBLOCK: opening a named pipe does not wait for its writer.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            failure = CaptureError(f"cannot read the capture {path}: {error.strerror}; check the path")
            failure.status = exit_status.USAGE
            raise failure from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CaptureError(f"{path} is not a file; give the path of a capture")
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
        """The open file's descriptor, for a process that reads the same file."""
        return self._descriptor

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def raw_bytes(self) -> int:
        """Decompressed bytes of all blobs; a blob that is stored once and used twice counts twice."""
        return self.blobs.raw_bytes

    @property
    def stored_bytes(self) -> int:
        return self.blobs.stored_bytes

    def chunks(self, content: Content) -> Iterator[bytes]:
        """Bulk data, a blob at a time. Raises CaptureError."""
        try:
            yield from self.blobs.chunks(content)
        except MalformedError as error:
            raise _refused(self.path, error) from error

    def content(self, content: Content) -> bytes:
        """Bulk data, whole. Raises CaptureError."""
        self._check_size(content.bytes)
        return b"".join(self.chunks(content))

    def image(self, index: int) -> bytes:
        """The bytes of an image, compared with its SHA-256. Raises CaptureError."""
        image = self.images[index]
        raw = self.content(image.content)
        if hashlib.sha256(raw).hexdigest() != image.sha256:
            raise _refused(self.path, MalformedError(f"image {index}: its bytes do not match its SHA-256"))
        return raw

    def memory(self, address: int, size: int, after: bool = False) -> bytes:
        """Device memory before the region ran, or after it. Memory that was never written is zero.

        Raises CaptureError if neither the allocations nor one global hold all of it, and for memory of
        allocations that the capture does not have.
        """
        self._check_size(size)
        if size and not self._allocated.hold(address, size):
            holder = self._global_at(address, size)
            content = holder.after if after and holder.after.bytes else holder.before
            return self.content(content)[address - holder.address :][:size] or bytes(size)
        unknown = AllocationFlag.AFTER_UNKNOWN if after else AllocationFlag.BEFORE_UNKNOWN
        if unknown in self._flags:
            when = "after" if after else "before"
            raise CaptureError(
                f"{self.path}: the capture has no memory from {when} the region; record it again"
            )
        into = bytearray(size)
        for table in (self.before, self.after) if after else (self.before,):
            self._overlay(into, address, table)
        return bytes(into)

    @cached_property
    def _flags(self) -> AllocationFlag:
        """The flags that any allocation has."""
        return reduce(or_, (each.flags for each in self.allocations), AllocationFlag(0))

    @cached_property
    def _allocated(self) -> Joined:
        return Joined((each.address, each.address + each.bytes) for each in self.allocations)

    def _global_at(self, address: int, size: int) -> Global:
        for each in self.globals:
            if each.address <= address and address + size <= each.address + each.bytes:
                return each
        raise CaptureError(
            f"{self.path}: no allocation or global holds {size} bytes at {address:#x}; `neutrino-bench inspect` "
            "lists them"
        )

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
        """Write the runs that overlap [address, address + len(into)) into `into`."""
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
                "read them in parts, or give larger limits"
            )


def _run_address(run: Run) -> int:
    return run.address


def _refused(path: Path, error: MalformedError) -> CaptureError:
    return CaptureError(
        f"{path}: {error}; the file is damaged or was not written by neutrino-bench: record it again"
    )
