"""The table of a launch's allocations: what is near an access, and bytes that are not a table."""

from __future__ import annotations

import random
import struct

import pytest

from benchguard.errors import UsageError
from benchguard.probe.allocations import GRANULE, read_table

HOST = 1
BASE = 1 << 40


def table(*rows: tuple[int, int, int], missing: int = 0, flags: int = 0) -> bytes:
    packed = b"".join(struct.pack("<QQQQ", at, size, n, mark) for n, (at, size, mark) in enumerate(rows, 1))
    return struct.pack("<QII", len(rows), missing, flags) + packed


def test_nearest_allocation_is_the_one_with_the_smallest_gap() -> None:
    found = read_table(table((1000, 100, 0), (2000, 50, HOST)))
    numbers = {at: found.nearest(at, 4) for at in (0, 1100, 1547, 1549, 1999, 5000)}
    assert {at: each.number for at, each in numbers.items() if each} == {
        0: 1, 1100: 1, 1547: 1, 1549: 2, 1999: 2, 5000: 2
    }  # fmt: skip
    assert read_table(table()).nearest(0, 4) is None


def test_access_outside_is_doubtful_only_where_other_memory_may_be() -> None:
    device, host = (BASE, 100, 0), (BASE + 8 * GRANULE, 100, HOST)
    assert read_table(table(device)).doubt(BASE + 100, 4) == ""
    assert "lacks 3 of" in read_table(table(device, missing=3)).doubt(BASE + 100, 4)
    pageable = read_table(table(device, host, flags=1))
    assert pageable.doubt(BASE + 100, 4) == ""
    assert "malloc" in pageable.doubt(BASE + GRANULE, 4)
    assert "malloc" in pageable.doubt(BASE + 8 * GRANULE + 100, 4)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "has 0 bytes"),
        (struct.pack("<QII", 1 << 60, 0, 0) + bytes(64), "names 1152921504606846976 rows in 80 bytes"),
        (table((0, 10, 0), (9, 1, 0)), "overlap"),
        (table((10, 1, 0), (0, 1, 0)), "overlap"),
    ],
)
def test_malformed_table_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_table(data)


def test_random_bytes_are_a_table_or_refused() -> None:
    chance = random.Random(33)
    right = table((1000, 100, 0), (2000, 50, HOST), (1 << 63, 1 << 62, 0))
    accepted = 0
    for _ in range(2000):
        data = bytearray(right[: chance.randrange(len(right) + 1)])
        for _ in range(chance.randrange(3)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            found = read_table(bytes(data))
        except UsageError:
            continue
        accepted += 1
        found.nearest(chance.getrandbits(64), 4)
        found.doubt(chance.getrandbits(64), 4)
    assert 0 < accepted < 2000
