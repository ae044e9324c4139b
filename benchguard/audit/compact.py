"""Compact audit logs: the lines of a log without their hashes, in zstd frames (docs/formats.md, docs/adr/0034, 0046).

A hash cannot be compressed, and the hashes of a log follow from its lines. So only checkpoints have one: the hash of
the line before. Readers compute the rest, and get the lines of the JSON log byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import BinaryIO

import zstandard

from .chain import (
    CONTINUATION,
    CONTINUATION_ALONE,
    CONTINUED,
    FIRST,
    LINE_MAX,
    LogError,
    chained,
    ends_file,
    previous_of,
    unchained,
)
from .line_index import BEGINNING, IndexBuilder, IndexCheck, Place
from .line_index import MAGIC as INDEX_MAGIC

MAGIC = b"\x28\xb5\x2f\xfd"
SUFFIX = ".zst"
LEVEL = 3
WINDOW_MAX = 8 << 20
CHECKPOINT_BYTES = 1 << 20
"""A checkpoint follows at the latest after the line that exceeds this."""
FRAME_BYTES = 4 << 20
"""A frame ends at the checkpoint after this much text, so that a reader can begin at the next frame."""
PIECE_BYTES = 1 << 10
"""Bytes that are decompressed at once. Four bytes of a frame give 128 KiB at most, so the result has 32 MiB at most."""
READ_BYTES = 1 << 20

_CHECKPOINT = b'{"chain":"'


class CompactFile:
    """Takes the lines of a log, and appends them to `file` in compact form. A flush makes them readable."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._stream: zstandard.ZstdCompressionObj | None = None
        self._index = IndexBuilder()
        self._frame_bytes = 0
        self._pending = bytearray()
        self._last = b""
        self._lines = 0
        self.bytes = 0
        """Bytes that were written to the file."""

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, line: bytes) -> None:
        """`line` is a whole line of the log, with the hash of the line before."""
        if self._stream is None:
            self._stream = self._compressor.compressobj()
            self._index.add(Place(self._lines, self.bytes, previous_of(line)))
        self._pending += unchained(line) + b"\n"
        self._last = line
        self._lines += 1
        if len(self._pending) > CHECKPOINT_BYTES:
            self._compress(self._stream)

    def flush(self) -> None:
        if self._pending and self._stream is not None:
            self._compress(self._stream)
        if self._stream is not None:
            self._write(self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
        self._file.flush()

    def close(self) -> None:
        try:
            self.flush()
            if self._stream is not None:
                self._end_frame(self._stream)
            if self._last:
                end = Place(self._lines, self.bytes, hashlib.sha256(self._last).hexdigest())
                self._write(self._index.frame(end, self._last.startswith(CONTINUED)))
        finally:
            self._file.close()

    def _compress(self, stream: zstandard.ZstdCompressionObj) -> None:
        self._pending += _CHECKPOINT + hashlib.sha256(self._last).hexdigest().encode() + b'"}\n'
        self._frame_bytes += len(self._pending)
        self._write(stream.compress(bytes(self._pending)))
        self._pending.clear()
        if self._frame_bytes > FRAME_BYTES:
            self._end_frame(stream)

    def _end_frame(self, stream: zstandard.ZstdCompressionObj) -> None:
        self._write(stream.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH))
        self._stream, self._frame_bytes = None, 0

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.bytes += len(data)


class Expander:
    """Turns the bytes of a compact log, piece by piece, into the lines of the log up to the last checkpoint.

    The bytes may come from a stranger: each step uses bounded memory, and raises LogError for bytes that are not a
    compact log.
    """

    def __init__(
        self, where: str, start: Place = BEGINNING, at_frame: Callable[[Place], None] | None = None
    ) -> None:
        """`start`: the first frame that is fed. `at_frame` gets the place of each frame."""
        self._where = where
        self._check = IndexCheck() if at_frame is None else None
        self._at_frame = self._check.add if at_frame is None and self._check is not None else at_frame
        self._stream: zstandard.ZstdDecompressionObj | None = None
        self._magic = b""
        self._is_in_index = False
        self._rest = b""
        self._unchecked: list[bytes] = []
        self._unchecked_bytes = 0
        self._last = b""
        self._offset = start.offset
        self._head = start.head.encode()
        self._lines = start.lines

    @property
    def place(self) -> Place:
        """The place after the lines and the bytes that were read: between two frames, the beginning of the next."""
        return Place(self._lines, self._offset, self._head.decode())

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), PIECE_BYTES):
            piece = data[at : at + PIECE_BYTES]
            while piece:
                if self._is_in_index:
                    self._compare(piece)
                    piece = b""
                elif self._stream is None:
                    piece = self._begin_frame(piece)
                else:
                    stream = self._stream
                    yield from self._expand(stream, piece)
                    piece = stream.unused_data if stream.eof else b""

    def _begin_frame(self, piece: bytes) -> bytes:
        """Take the magic number of a frame; give the bytes to go on with."""
        missing = len(MAGIC) - len(self._magic)
        self._magic, piece = self._magic + piece[:missing], piece[missing:]
        if len(self._magic) < len(MAGIC):
            return b""
        magic, self._magic = self._magic, b""
        if self._rest or self._unchecked:
            raise LogError(
                f"{self._where}, after line {self._lines}: a zstd frame ends without a checkpoint; the log was altered"
            )
        if magic == INDEX_MAGIC and self._check is not None:
            self._is_in_index = True
            self._check.begin(self.place, self._last.startswith(CONTINUED))
        elif magic != MAGIC or ends_file(self._last):
            raise LogError(f"{self._where}: the log continues after its last zstd frame; bytes were added")
        else:
            if self._at_frame is not None:
                self._at_frame(self.place)
            self._stream = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
        return magic + piece

    def _compare(self, piece: bytes) -> None:
        assert self._check is not None
        if not self._check.accept(piece):
            raise LogError(
                f"{self._where}: the index does not match the lines, or bytes were added after it; the log was altered"
            )

    def _expand(self, stream: zstandard.ZstdDecompressionObj, piece: bytes) -> Iterator[bytes]:
        try:
            text = stream.decompress(piece)
        except (zstandard.ZstdError, MemoryError) as error:
            raise LogError(
                f"{self._where}, after line {self._lines}: not a zstd frame ({error}); the log was altered"
            ) from error
        self._offset += len(piece) - len(stream.unused_data)
        if stream.eof:
            self._stream = None
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            if line.startswith(_CHECKPOINT):
                yield from self._checked(line)
            else:
                self._add(line)
        if len(self._rest) > LINE_MAX:
            raise LogError(f"{self._where}: a line of more than {LINE_MAX} bytes; not an audit log")

    def _add(self, line: bytes) -> None:
        if self._head == FIRST.encode() and line.startswith(CONTINUATION):
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
        self._last = lines[-1] if lines else self._last
        yield from lines


def is_compact(head: bytes) -> bool:
    """Whether a file that begins with these bytes, at least one, is a compact log."""
    return head.startswith(MAGIC) or (bool(head) and head == MAGIC[: len(head)])


def _read(where: str, method: Callable[[int], bytes], size: int) -> bytes:
    """Call a method of the file. Raises LogError."""
    try:
        return method(size)
    except OSError as error:
        raise LogError(
            f"cannot read the log {where}: {error.strerror}; check the file and its disk"
        ) from error


def read_lines(file: BufferedReader, where: str, head: str = FIRST) -> Iterator[bytes]:
    """The lines of a log's file in either form, as the JSON log has them; the last may be cut short. Raises LogError.

    `head`: hash of the line before the first one, which is in another file.
    """
    if not is_compact(_read(where, file.peek, 1)):
        while line := _read(where, file.readline, LINE_MAX):
            yield line
        return
    expander = Expander(where, Place(0, 0, head))
    while data := _read(where, file.read, READ_BYTES):
        yield from expander.feed(data)
