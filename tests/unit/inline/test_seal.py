"""Sealed results: both sides agree, and nothing but what was sealed opens."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.inline.seal import (
    HEAD,
    KEY_BYTES,
    PRIME,
    RESULT_BYTES,
    RESULT_MAGIC,
    ROW,
    SEALED_BYTES,
    SealError,
    code_of,
    new_keys,
    open_sealed,
    seal,
)
from tests.conftest import ROOT

ENGINE = ROOT / "engine" / "inline"
CASES = 3


def result(case: int, rows: int = 2) -> bytes:
    head = HEAD.pack(RESULT_MAGIC, case, rows, 9, 0, 1.25, 3.5)
    body = b"".join(ROW.pack(10.0 + row, 12.0 + row, row, 7 - row % 2, row) for row in range(rows))
    return (head + body).ljust(RESULT_BYTES, b"\0")


@pytest.fixture(scope="module")
def in_c(compile_c: Callable[..., Path]) -> Callable[[bytes, bytes], bytes]:
    source = Path(__file__).parent / "programs" / "seal.c"
    program = compile_c("inline-seal", source, ENGINE / "seal.c", flags=(f"-I{ENGINE.parent}",))

    def sealed(key: bytes, plain: bytes) -> bytes:
        return subprocess.run(
            [program], input=key + plain, capture_output=True, check=True, timeout=30
        ).stdout

    return sealed


def test_c_and_python_seal_alike(in_c: Callable[[bytes, bytes], bytes]) -> None:
    keys = new_keys(CASES)
    for case in range(CASES):
        key = keys[case * KEY_BYTES : (case + 1) * KEY_BYTES]
        message = in_c(key, result(case))
        assert message == seal(keys, case, result(case))
        opened = open_sealed(keys, case, message)
        assert (opened.case, opened.wanted, opened.overhead_us, opened.gap_us) == (case, 9, 1.25, 3.5)
        assert [(row.event_us, row.stamp_us, row.wrong, row.set, row.flags) for row in opened.rows] == [
            (10.0, 12.0, 0, 7, 0),
            (11.0, 13.0, 1, 6, 1),
        ]


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_extreme_keys_seal_alike(in_c: Callable[[bytes, bytes], bytes], byte: int) -> None:
    """A point of 2**61 - 1 is 0 in the field."""
    key = bytes([byte]) * KEY_BYTES
    assert in_c(key, result(0)) == seal(key, 0, result(0))


def test_code_is_the_documented_polynomial() -> None:
    """Small enough to be computed by hand: ((3 * 10 + 1) * 10 + 2) * 10 + 5, of case 3 and the words 1 and 2."""
    data = (1).to_bytes(7, "little") + (2).to_bytes(7, "little")
    assert code_of(10, 5, 3, data) == 3125
    assert code_of(PRIME, 5, 3, data) == 5


def altered(message: bytes, at: int) -> bytes:
    return message[:at] + bytes([message[at] ^ 1]) + message[at + 1 :]


@pytest.mark.parametrize("at", [0, 4, 8, 47, 48, 1000, SEALED_BYTES - 9, SEALED_BYTES - 8, SEALED_BYTES - 2])
def test_altered_message_is_refused(at: int) -> None:
    keys = new_keys(CASES)
    message = seal(keys, 1, result(1))
    open_sealed(keys, 1, message)
    with pytest.raises(SealError):
        open_sealed(keys, 1, altered(message, at))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"x" * (SEALED_BYTES - 1),
        b"x" * (SEALED_BYTES + 1),
        bytes(SEALED_BYTES),
        b"nbS\0" + bytes(SEALED_BYTES - 4),
    ],
)
def test_malformed_message_is_refused(message: bytes) -> None:
    with pytest.raises(SealError):
        open_sealed(new_keys(CASES), 0, message)


def test_message_of_another_case_is_refused() -> None:
    keys = new_keys(CASES)
    message = seal(keys, 0, result(0))
    with pytest.raises(SealError):
        open_sealed(keys, 1, message)
    renamed = message[:4] + (1).to_bytes(4, "little") + message[8:]
    with pytest.raises(SealError):
        open_sealed(keys, 1, renamed)


def test_message_of_an_earlier_grade_is_refused() -> None:
    """A message of an earlier grade, with its own keys."""
    with pytest.raises(SealError):
        open_sealed(new_keys(CASES), 0, seal(new_keys(CASES), 0, result(0)))


def test_message_with_too_many_rows_is_refused() -> None:
    keys = new_keys(1)
    with pytest.raises(SealError):
        open_sealed(keys, 0, seal(keys, 0, result(0, rows=10)))
