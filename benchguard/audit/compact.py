"""Compact audit logs: the lines of a log without their hashes, in one zstd frame (docs/formats.md, docs/adr/0034).

A hash cannot be compressed, and the hashes of a log follow from its lines. So only checkpoints have one: the hash of
the line before. Readers compute the rest, and get the lines of the JSON log byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO

import zstandard

from .chain import CONTINUATION_ALONE, FIRST, LINE_MAX, LogError, chained, unchained

MAGIC = b"\x28\xb5\x2f\xfd"
SUFFIX = ".zst"
LEVEL = 3
WINDOW_MAX = 8 << 20
CHECKPOINT_BYTES = 1 << 20
"""A checkpoint follows at the latest after the line that exceeds this."""
PIECE_BYTES = 1 << 10
"""Bytes that are decompressed at once. Four bytes of a frame give 128 KiB at most, so the result has 32 MiB at most."""
READ_BYTES = 1 << 20

_CHECKPOINT = b'{"chain":"'
_CONTINUATION = b'{"kind":"part"'


class CompactFile:
    """Takes the lines of a log, and appends them to `file` in compact form. A flush makes them readable."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
        self._pending = bytearray()
        self._last = b""
        self.bytes = 0
        """Bytes that were written to the file."""

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, line: bytes) -> None:
        """`line` is a whole line of the log, with the hash of the line before."""
        self._pending += unchained(line) + b"\n"
        self._last = line
        if len(self._pending) > CHECKPOINT_BYTES:
            self._compress()

    def flush(self) -> None:
        if self._pending:
            self._compress()
            self._write(self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
        self._file.flush()

    def close(self) -> None:
        try:
            self.flush()
            self._write(self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH))
        finally:
            self._file.close()

    def _compress(self) -> None:
        self._pending += _CHECKPOINT + hashlib.sha256(self._last).hexdigest().encode() + b'"}\n'
        self._write(self._stream.compress(bytes(self._pending)))
        self._pending.clear()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.bytes += len(data)


class Expander:
    """Turns the bytes of a compact log, piece by piece, into the lines of the log up to the last checkpoint.

    The bytes may come from a stranger: each step uses bounded memory, and raises LogError for bytes that are not a
    compact log.
    """

    def __init__(self, where: str, head: str = FIRST) -> None:
        """`head`: hash of the line before the first one, which is in another file."""
        decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX)
        self._stream = decompressor.decompressobj()
        self._where = where
        self._rest = b""
        self._unchecked: list[bytes] = []
        self._unchecked_bytes = 0
        self._head = head.encode()
        self._lines = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), PIECE_BYTES):
            yield from self._expand(data[at : at + PIECE_BYTES])

    def _expand(self, piece: bytes) -> Iterator[bytes]:
        if self._stream.eof:
            raise LogError(f"{self._where}: the log continues after its zstd frame; bytes were added")
        try:
            text = self._stream.decompress(piece)
        except (zstandard.ZstdError, MemoryError) as error:
            raise LogError(
                f"{self._where}, after line {self._lines}: not a zstd frame ({error}); the log was altered"
            ) from error
        if self._stream.unused_data:
            raise LogError(f"{self._where}: the log continues after its zstd frame; bytes were added")
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            if line.startswith(_CHECKPOINT):
                yield from self._checked(line)
            else:
                self._add(line)
        if len(self._rest) > LINE_MAX:
            raise LogError(f"{self._where}: a line of more than {LINE_MAX} bytes; not an audit log")

    def _add(self, line: bytes) -> None:
        if self._head == FIRST.encode() and line.startswith(_CONTINUATION):
            raise LogError(f"{self._where}, line 1: {CONTINUATION_ALONE}")
        whole = chained(line, self._head)
        self._head = hashlib.sha256(whole).hexdigest().encode()
        self._unchecked.append(whole)
        self._unchecked_bytes += len(whole)
        if self._unchecked_bytes > 2 * CHECKPOINT_BYTES + LINE_MAX:
            raise LogError(
                f"{self._where}, after line {self._lines}: no checkpoint follows; the log was altered"
            )

    def _checked(self, checkpoint: bytes) -> Iterator[bytes]:
        lines, self._unchecked, self._unchecked_bytes = self._unchecked, [], 0
        if checkpoint != _CHECKPOINT + self._head + b'"}':
            raise LogError(
                f"{self._where}, lines {self._lines + 1} to {self._lines + len(lines)}: do not match the hash of their "
                "checkpoint; a line was altered or removed"
            )
        self._lines += len(lines)
        yield from lines


def is_compact(head: bytes) -> bool:
    """Whether a file that begins with these bytes, at least one, is a compact log."""
    return head.startswith(MAGIC) or (bool(head) and head == MAGIC[: len(head)])


def read_lines(file: BufferedReader, where: str, head: str = FIRST) -> Iterator[bytes]:
    """The lines of a log's file in either form, as the JSON log has them; the last may be cut short. Raises LogError.

    `head`: hash of the line before the first one, which is in another file.
    """
    if not is_compact(file.peek(1)):
        while line := file.readline(LINE_MAX):
            yield line
        return
    expander = Expander(where, head)
    while data := file.read(READ_BYTES):
        yield from expander.feed(data)
