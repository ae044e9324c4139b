"""Inputs by name and by address, as every kind of data; what does not fit is one line."""

from __future__ import annotations

import array
import os
from collections.abc import Iterator

import pytest

from benchguard.capture.layout import Role
from benchguard.capture.model import Range
from benchguard.errors import UsageError
from benchguard.replay.buffers import POOL_SETS, Pool, Source, make_outputs, make_pool
from benchguard.replay.subject import Extent, Subject

BASE = 0x300000000000


def subject(*ranges: Range) -> Subject:
    return Subject(
        name="0" * 64,
        region="1",
        ranges=ranges
        or (
            Range(BASE, 8, Role.INPUT, "x"),
            Range(BASE + 64, 4, Role.OUTPUT, "y"),
            Range(BASE + 64, 4, Role.STATE, "twice"),
            Range(BASE + 68, 4, Role.STATE, "twice"),
        ),
        allocations=(Extent(BASE, 256, "cuMemAlloc_v2"), Extent(BASE + 256, 256, "cuMemAlloc_v2")),
        globals=(Extent(0x310000000000, 4, "global counter"),),
        kernels=(),
    )


def contents(pool: Pool) -> Iterator[tuple[int, int, bytes]]:
    for part in pool.parts:
        yield part.number, part.address, os.pread(pool.descriptor, part.bytes, part.offset)
    os.close(pool.descriptor)


def pool_of(inputs: dict[str | int, Source]) -> list[tuple[int, int, bytes]]:
    return list(contents(make_pool(inputs, subject())))


@pytest.mark.parametrize(
    "data", [b"abcdefgh", bytearray(b"abcdefgh"), memoryview(b"abcdefgh"), array.array("B", b"abcdefgh")]
)
def test_input_of_a_named_range_becomes_a_part(data: object) -> None:
    assert pool_of({"x": data}) == [(0, BASE, b"abcdefgh")]


def test_input_of_a_strided_array_is_packed() -> None:
    numpy = pytest.importorskip("numpy")
    whole = numpy.arange(16, dtype=numpy.uint8)
    assert pool_of({"x": whole[::2]}) == [(0, BASE, bytes(range(0, 16, 2)))]
    grid = numpy.arange(8, dtype=numpy.uint8).reshape(2, 4)
    assert pool_of({"x": grid.T}) == [(0, BASE, bytes([0, 4, 1, 5, 2, 6, 3, 7]))]


def test_input_at_an_address_is_within_one_extent() -> None:
    assert pool_of({BASE + 10: b"abc"}) == [(0, BASE + 10, b"abc")]
    assert pool_of({0x310000000000: b"four"}) == [(0, 0x310000000000, b"four")]


def test_input_list_makes_sets_and_single_input_joins_all() -> None:
    pool = pool_of({"x": [b"a" * 8, b"b" * 8], BASE + 128: b"k"})
    assert pool == [
        (0, BASE, b"a" * 8),
        (1, BASE, b"b" * 8),
        (0, BASE + 128, b"k"),
        (1, BASE + 128, b"k"),
    ]


def test_input_function_is_called_for_every_set() -> None:
    pool = pool_of({"x": lambda number: bytes([number]) * 8})
    assert [data[0] for _, _, data in pool] == list(range(POOL_SETS))
    assert len(pool_of({"x": lambda _: bytes(8), BASE + 128: [b"a", b"b", b"c"]})) == 6


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"x": b"abc"}, "has 3 bytes, its range has 8"),
        ({"z": b"abc"}, "no range 'z'; it has twice, x, y"),
        ({"twice": b"abcd"}, "2 ranges of the name"),
        ({BASE + 254: b"abcd"}, "not within one allocation"),
        ({BASE - 1: b"ab"}, "not within one allocation"),
        ({-5: b"ab"}, "not within one allocation"),
        ({"x": 8}, "is a int"),
        ({"x": "abcdefgh"}, "is a str"),
        ({"x": []}, "inputs have 0 sets; give 1"),
        ({"x": [bytes(8)] * 2, BASE + 128: [b"a"]}, "1 and 2 sets"),
        ({"x": [bytes(8)] * 5000}, "5000 sets"),
    ],
)
def test_input_that_does_not_fit_is_refused(inputs: dict[str | int, Source], said: str) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - descriptors, not paths
    with pytest.raises(UsageError, match=said):
        make_pool(inputs, subject())
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_missing_inputs_make_no_sets() -> None:
    assert make_pool(None, subject()) == Pool()


def test_outputs_default_to_ranges_named_by_the_program() -> None:
    ranges = (Range(BASE, 8, Role.INPUT, "x"), Range(BASE + 8, 8, Role.OUTPUT, "y"))
    outputs = make_outputs(None, "none", subject(*ranges), 1)
    assert [(part.address, part.written) for part in outputs.parts] == [(BASE + 8, True)]


def test_output_that_is_also_read_is_not_poisoned() -> None:
    """Poison would change the region's work: memory updated in place, or memory not named as an output."""
    in_place = subject(Range(BASE, 8, Role.STATE, "x"), Range(BASE + 4, 8, Role.OUTPUT, "y"))
    expected: list[str | tuple[int, int]] = ["y", "x", (BASE + 100, 4), (BASE + 9, 2)]
    outputs = make_outputs(expected, "none", in_place, 1)
    assert [part.written for part in outputs.parts] == [False, False, False, True]


def test_outputs_by_name_and_address_are_kept_for_every_set() -> None:
    outputs = make_outputs(["y", (BASE + 100, 3)], "sets", subject(), 2)
    try:
        assert [(part.address, part.bytes) for part in outputs.parts] == [(BASE + 64, 4), (BASE + 100, 3)]
        os.pwrite(outputs.descriptor, b"abcd", 0)
        os.pwrite(outputs.descriptor, b"efgh", outputs.stride)
        assert outputs.read() == {"y": [b"abcd", b"efgh"], f"{BASE + 100:#x}": [bytes(3), bytes(3)]}
    finally:
        os.close(outputs.descriptor)


def test_outputs_of_the_last_sample_are_returned() -> None:
    outputs = make_outputs(["y"], "last", subject(), 5)
    try:
        assert outputs.read() == {"y": bytes(4)}
    finally:
        os.close(outputs.descriptor)


def test_outputs_not_kept_are_still_poisoned() -> None:
    outputs = make_outputs(["y"], "none", subject(), 5)
    assert outputs.descriptor == -1 and len(outputs.parts) == 1 and outputs.sets == 0


@pytest.mark.parametrize(
    ("wanted", "keep", "said"),
    [
        (["z"], "last", "no range 'z'"),
        ([(BASE, 0)], "last", "no bytes"),
        ([(BASE, -4)], "last", "no bytes"),
        ([(BASE, 1 << 50)], "last", "not within"),
        (["y"], "all", "keep_outputs"),
    ],
)
def test_invalid_outputs_are_refused(wanted: list[str | tuple[int, int]], keep: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_outputs(wanted, keep, subject(), 1)  # type: ignore[arg-type]


def test_buffers_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _: 1)
    with pytest.raises(UsageError, match="give fewer sets"):
        make_pool({"x": bytes(8)}, subject())
    with pytest.raises(UsageError, match="give fewer sets"):
        make_outputs(["y"], "last", subject(), 1)
