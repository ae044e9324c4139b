"""Checks capture files with the validator, which is the replay engine's reader (validate.c), in a sandboxed process."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache

from ..toolchain.paths import REPLAY
from .codec import MalformedError
from .errors import CaptureError
from .layout import BLOB, CAPTURE, ELEMENTS, SECTION, Kind

ERROR_BYTES = 512
"""NB_REPLAY_TEXT of replay.h."""

_OK, _BAD_CAPTURE = 0, 1
"""Values of enum nb_replay_status."""


@dataclass(frozen=True)
class Limits:
    """Limits on the cost of reading a capture. The file's size does not bound it, because zeros compress well.

    Attributes:
        table_bytes: decoded bytes of all tables together.
        elements: elements of all tables together, without runs of memory, which are cheap.
        content_bytes: bytes that one call may return (Capture.content, Capture.memory).
    """

    table_bytes: int = 512 << 20
    elements: int = 1 << 20
    content_bytes: int = 16 << 30


@dataclass(frozen=True)
class Sections:
    """The tables of a valid capture, still encoded. `name` is the SHA-256 that identifies the capture."""

    name: str
    blob_table: bytes
    tables: dict[Kind, bytes]


def validate(descriptor: int, limits: Limits) -> Sections:
    """Check a capture file. Raises MalformedError for a bad file, and CaptureError if it cannot be checked here."""
    error = ctypes.create_string_buffer(ERROR_BYTES)
    output = os.memfd_create("neutrino-tables", os.MFD_CLOEXEC)
    try:
        status = _validator()(descriptor, output, limits.table_bytes, limits.elements, error)
        if status == _OK:
            return _split(os.pread(output, os.fstat(output).st_size, 0))
    finally:
        os.close(output)
    line = " ".join(error.value.decode(errors="replace").split())
    if status == _BAD_CAPTURE:
        raise MalformedError(line)
    raise CaptureError(f"captures cannot be checked on this machine: {line}")


@cache
def _validator() -> ctypes._NamedFuncPointer:
    try:
        function = ctypes.CDLL(os.fspath(REPLAY)).nb_capture_validate
    except (OSError, AttributeError) as error:
        raise CaptureError(
            f"the reader of captures cannot be loaded ({error}); install neutrino-bench again, or run "
            "`python build.py build` in its source"
        ) from error
    function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_char_p]
    function.restype = ctypes.c_int
    return function


def _split(raw: bytes) -> Sections:
    """The validator's output. Decoded defensively: a hostile capture may have taken over the process that wrote it."""
    if len(raw) < CAPTURE.size:
        raise MalformedError("its tables are incomplete")
    header = dict(zip(CAPTURE.offsets, CAPTURE.struct.unpack_from(raw), strict=True))
    blobs_end = CAPTURE.size + header["blob_count"] * BLOB.size
    at = blobs_end + header["section_count"] * SECTION.size
    if at > len(raw):
        raise MalformedError("its tables are incomplete")
    tables: dict[Kind, bytes] = {}
    for number, element_bytes, count, _, _ in SECTION.struct.iter_unpack(raw[blobs_end:at]):
        if number not in Kind.__members__.values():
            continue
        kind, size = Kind(number), count * element_bytes
        if at + size > len(raw) or (kind in ELEMENTS and element_bytes != ELEMENTS[kind].size):
            raise MalformedError(f"section {kind.name.lower()}: its table is incomplete")
        tables[kind] = raw[at : at + size]
        at += size
    if any(len(tables.get(kind, b"")) != ELEMENTS[kind].size for kind in (Kind.DEVICE, Kind.END)):
        raise MalformedError("its tables are incomplete")
    return Sections(header["sha256"].hex(), raw[CAPTURE.size : blobs_end], tables)
