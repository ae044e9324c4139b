"""The supervisor's side of engine/seal.h: keys, and what they open.

A result is hidden by a one-time pad and shown to be unaltered by a one-time Carter-Wegman code: a polynomial over the
field of 2**61 - 1 elements. Both need no assumption but that their key was seen by nobody, and is used once; seal.h
says why this and no cipher.
"""

from __future__ import annotations

import hmac
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import BenchguardError
from .contract import SAMPLES_MAX

PRIME = (1 << 61) - 1
WORD_BYTES = 7
ROWS = SAMPLES_MAX + 1
"""One more than there are samples: the probe's."""

RESULT_MAGIC, SEALED_MAGIC = b"nbtimes\0", b"nbS\0"
HEAD = struct.Struct("<8sIIIIdd")
ROW = struct.Struct("<ddQII")
RESULT_BYTES = HEAD.size + ROWS * ROW.size
_KEY = struct.Struct(f"<QQ{RESULT_BYTES}s")
_SEALED = struct.Struct(f"<4sI{RESULT_BYTES}sQ")
KEY_BYTES, SEALED_BYTES = _KEY.size, _SEALED.size

PROBE, UNPRIMED, ALTERED = 1, 2, 4


class SealError(BenchguardError):
    """It is not what was sealed."""


@dataclass(frozen=True)
class SealedRow:
    """`event_us` between the events, `stamp_us` between the trusted kernels around them; flags PROBE, ..."""

    event_us: float
    stamp_us: float
    wrong: int
    set: int
    flags: int


@dataclass(frozen=True)
class SealedResult:
    """`rows` that were done, the probe's first; `stopped` is 1000 * the step + the driver's result, or 0."""

    case: int
    wanted: int
    stopped: int
    overhead_us: float
    gap_us: float
    rows: tuple[SealedRow, ...]


def new_keys(cases: int) -> bytes:
    """A key for each case, one behind the other, from the operating system."""
    return os.urandom(cases * KEY_BYTES)


def open_sealed(keys: bytes, case: int, message: bytes) -> SealedResult:
    """Open the message sealed for `case`. Raises SealError for any other message.

    A key opens one message: the caller forgets the key afterwards in any case.
    """
    if len(message) != SEALED_BYTES:
        raise SealError(f"a sealed result has {SEALED_BYTES} bytes, {len(message)} came; grade again")
    magic, number, data, code = _SEALED.unpack(message)
    if magic != SEALED_MAGIC or number != case:
        raise SealError(f"no sealed result of case {case}; grade again")
    key = keys[case * KEY_BYTES : (case + 1) * KEY_BYTES]
    point, mask, pad = _KEY.unpack(key)
    if not hmac.compare_digest(
        code_of(point, mask, case, data).to_bytes(8, "little"), code.to_bytes(8, "little")
    ):
        raise SealError(f"the result of case {case} was altered on its way, or is forged")
    return _read(_xor(data, pad), case)


def seal(keys: bytes, case: int, result: bytes) -> bytes:
    """Seal like the loop in C, for tests."""
    point, mask, pad = _KEY.unpack(keys[case * KEY_BYTES : (case + 1) * KEY_BYTES])
    data = _xor(result, pad)
    return _SEALED.pack(SEALED_MAGIC, case, data, code_of(point, mask, case, data))


def code_of(point: int, mask: int, case: int, data: bytes) -> int:
    """The polynomial of the case's number and the data's words of 7 bytes, at `point`, plus `mask`."""
    at = (point & PRIME) % PRIME
    total = case * at % PRIME
    for word in _words(data):
        total = (total + word) * at % PRIME
    return (total + (mask & PRIME)) % PRIME


def _words(data: bytes) -> Iterator[int]:
    for start in range(0, len(data), WORD_BYTES):
        yield int.from_bytes(data[start : start + WORD_BYTES], "little")


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).to_bytes(len(one), "little")


def _read(plain: bytes, case: int) -> SealedResult:
    magic, number, done, set_count, stopped, overhead, gap = HEAD.unpack_from(plain)
    if magic != RESULT_MAGIC or number != case or done > min(set_count, ROWS):
        raise SealError(f"the result of case {case} makes no sense; this is a fault of ours")
    rows = [SealedRow(*ROW.unpack_from(plain, HEAD.size + index * ROW.size)) for index in range(done)]
    return SealedResult(case, set_count, stopped, overhead, gap, tuple(rows))
