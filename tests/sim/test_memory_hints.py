"""Advice and prefetches for managed memory, and queries."""

from __future__ import annotations

import ctypes

import pytest

from .conftest import Driver
from .test_memory import Location, size

INVALID_VALUE, INVALID_DEVICE = 1, 101
SET_READ_MOSTLY, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED, UNSET_ACCESSED = range(1, 7)
READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED = 1, 2, 3, 4
PREFERRED_TYPE, PREFETCHED_TYPE = 5, 7
HOST, NOWHERE = -1, -2
PAGE = 4096


def allocate_managed(driver: Driver, bytes_: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(driver.number("cuMemAllocManaged", size(bytes_), 1, kind=ctypes.c_uint64))


def query_attributes(
    driver: Driver, attribute: int, where: ctypes.c_uint64, bytes_: int, count: int = 1
) -> list[int]:
    numbers = (ctypes.c_int * count)(*[77] * count)
    driver("cuMemRangeGetAttribute", numbers, size(4 * count), attribute, where, size(bytes_))
    return list(numbers)


def test_advice_query_needs_every_page(driver: Driver) -> None:
    memory = allocate_managed(driver, 8 * PAGE)
    first = PAGE - memory.value % PAGE  # up to the next page: advice is rounded to pages
    tail = ctypes.c_uint64(memory.value + first)
    assert query_attributes(driver, READ_MOSTLY, memory, 8 * PAGE) == [0]
    driver("cuMemAdvise", memory, size(first + 1), SET_READ_MOSTLY, 0)
    assert query_attributes(driver, READ_MOSTLY, memory, first + PAGE) == [1]
    assert query_attributes(driver, READ_MOSTLY, memory, first + PAGE + 1) == [0]
    driver("cuMemAdvise", memory, size(8 * PAGE), SET_READ_MOSTLY, 0)
    driver("cuMemAdvise", ctypes.c_uint64(tail.value + PAGE), size(PAGE), UNSET_READ_MOSTLY, 0)
    assert query_attributes(driver, READ_MOSTLY, tail, PAGE) == [1]
    assert query_attributes(driver, READ_MOSTLY, tail, 2 * PAGE) == [0]
    assert query_attributes(driver, READ_MOSTLY, ctypes.c_uint64(tail.value + 2 * PAGE), PAGE) == [1]


def test_location_advice_round_trips(driver: Driver) -> None:
    memory = allocate_managed(driver, 4 * PAGE)
    whole = (memory, size(4 * PAGE))
    assert query_attributes(driver, PREFERRED, memory, PAGE) == [NOWHERE]
    assert query_attributes(driver, PREFETCHED, memory, PAGE) == [NOWHERE]
    driver("cuMemAdvise", *whole, SET_PREFERRED, HOST)
    driver("cuMemPrefetchAsync", *whole, 0, None)
    assert query_attributes(driver, PREFERRED, memory, 4 * PAGE) == [HOST]
    assert query_attributes(driver, PREFERRED_TYPE, memory, 4 * PAGE) == [2]
    assert query_attributes(driver, PREFETCHED, memory, 4 * PAGE) == [0]
    assert query_attributes(driver, PREFETCHED_TYPE, memory, 4 * PAGE) == [1]
    driver("cuMemPrefetchAsync", memory, size(PAGE), HOST, None)
    assert query_attributes(driver, PREFETCHED, memory, PAGE) == [HOST]
    assert query_attributes(driver, PREFETCHED, memory, 4 * PAGE) == [NOWHERE]
    driver("cuMemAdvise", *whole, UNSET_PREFERRED, 5)
    assert query_attributes(driver, PREFERRED, memory, PAGE) == [NOWHERE]
    driver("cuMemAdvise", *whole, SET_ACCESSED, 0)
    driver("cuMemAdvise", memory, size(PAGE), SET_ACCESSED, HOST)
    assert query_attributes(driver, ACCESSED_BY, memory, 4 * PAGE, 3) == [0, NOWHERE, NOWHERE]
    assert query_attributes(driver, ACCESSED_BY, memory, 16, 3) == [0, HOST, NOWHERE]
    driver("cuMemAdvise", *whole, UNSET_ACCESSED, 0)
    assert query_attributes(driver, ACCESSED_BY, memory, 16, 2) == [HOST, NOWHERE]


def test_reused_memory_has_no_advice(driver: Driver) -> None:
    memory = allocate_managed(driver, PAGE)
    driver("cuMemAdvise", memory, size(PAGE), SET_READ_MOSTLY, 0)
    driver("cuMemFree_v2", memory)
    again = allocate_managed(driver, PAGE)
    assert again.value == memory.value, "the address must be reused"
    assert query_attributes(driver, READ_MOSTLY, again, PAGE) == [0]


def test_several_attributes_query_together(driver: Driver) -> None:
    memory = allocate_managed(driver, PAGE)
    driver("cuMemAdvise", memory, size(PAGE), SET_READ_MOSTLY, 0)
    first, second = ctypes.c_int(), (ctypes.c_int * 2)()
    data = (ctypes.c_void_p * 2)(ctypes.addressof(first), ctypes.addressof(second))
    sizes, attributes = (ctypes.c_size_t * 2)(4, 8), (ctypes.c_int * 2)(READ_MOSTLY, ACCESSED_BY)
    arguments = (attributes, size(2), memory, size(PAGE))
    driver("cuMemRangeGetAttributes", data, sizes, *arguments)
    assert (first.value, list(second)) == (1, [NOWHERE, NOWHERE])
    sizes[0] = 8
    assert driver.result("cuMemRangeGetAttributes", data, sizes, *arguments) == INVALID_VALUE


def test_invalid_hints_are_refused(driver: Driver) -> None:
    memory, other, number = allocate_managed(driver, PAGE), driver.allocate(PAGE), ctypes.c_int()

    def get(where: ctypes.c_uint64, bytes_: int, attribute: int, room: int) -> int:
        arguments = (size(room), attribute, where, size(bytes_))
        return driver.result("cuMemRangeGetAttribute", ctypes.byref(number), *arguments)

    assert get(memory, PAGE + 1, READ_MOSTLY, 4) == INVALID_VALUE
    assert get(other, PAGE, READ_MOSTLY, 4) == INVALID_VALUE
    assert get(memory, PAGE, READ_MOSTLY, 8) == INVALID_VALUE
    assert get(memory, PAGE, ACCESSED_BY, 6) == INVALID_VALUE
    assert get(memory, PAGE, 99, 4) == INVALID_VALUE
    assert driver.result("cuMemAdvise", memory, size(PAGE), 99, 0) == INVALID_VALUE
    assert driver.result("cuMemAdvise", memory, size(PAGE), SET_PREFERRED, 1) == INVALID_DEVICE
    assert driver.result("cuMemAdvise", other, size(PAGE), SET_PREFERRED, 0) == INVALID_VALUE
    assert driver.result("cuMemPrefetchAsync", memory, size(PAGE), 1, None) == INVALID_DEVICE
    node = Location(3, 0)  # a host NUMA node cannot be an accessor
    assert driver.result("cuMemAdvise_v2", memory, size(PAGE), SET_ACCESSED, node) == INVALID_VALUE
    assert (
        driver.result("cuMemPrefetchAsync_v2", memory, size(PAGE), Location(2, 0), 1, None) == INVALID_VALUE
    )


def test_prefetch_batches_are_checked(driver: Driver) -> None:
    if not hasattr(driver.library, "cuMemPrefetchBatchAsync"):
        pytest.skip("built with a header before CUDA 13.0")
    stream = driver.handle("cuStreamCreate", 0)
    memory = [allocate_managed(driver, PAGE) for _ in "abc"]
    where = (ctypes.c_uint64 * 3)(*(address.value for address in memory))
    sizes = (ctypes.c_size_t * 3)(PAGE, PAGE, PAGE)
    places = (Location * 2)(Location(1, 0), Location(2, 0))
    first = (ctypes.c_size_t * 2)(0, 2)

    def batch(name: str, flags: int = 0, on: object = stream) -> int:
        arguments = (where, sizes, size(3), places, first, size(2), ctypes.c_ulonglong(flags), on)
        return driver.result(name, *arguments)

    assert batch("cuMemPrefetchBatchAsync") == 0
    assert [query_attributes(driver, PREFETCHED, address, PAGE)[0] for address in memory] == [0, 0, HOST]
    places[1] = Location(1, 0)
    assert batch("cuMemDiscardAndPrefetchBatchAsync") == 0
    assert query_attributes(driver, PREFETCHED, memory[2], PAGE) == [0]
    places[0] = Location(2, 0)
    assert batch("cuMemPrefetchBatchAsync", flags=1) == INVALID_VALUE
    assert batch("cuMemPrefetchBatchAsync", on=None) == INVALID_VALUE
    first[1] = 3
    assert batch("cuMemPrefetchBatchAsync") == INVALID_VALUE
    first[1], sizes[2] = 2, PAGE + 1
    assert batch("cuMemPrefetchBatchAsync") == INVALID_VALUE
    assert query_attributes(driver, PREFETCHED, memory[0], PAGE) == [0], "the whole batch is refused"
    arguments = (size(3), ctypes.c_ulonglong(0), stream)
    assert driver.result("cuMemDiscardBatchAsync", where, sizes, *arguments) == INVALID_VALUE
    sizes[2] = PAGE
    assert driver.result("cuMemDiscardBatchAsync", where, sizes, *arguments) == 0


def test_location_query_returns_most_common_place(driver: Driver) -> None:
    if not hasattr(driver.library, "cuMemGetLocationInfo"):
        pytest.skip("built with a header before CUDA 13.4")
    memory = allocate_managed(driver, 4 * PAGE)
    places = (Location * 3)(*[Location(9, 9)] * 3)

    def get(where: ctypes.c_uint64, bytes_: int, summary: int, step: int) -> int:
        return driver.result("cuMemGetLocationInfo", where, size(bytes_), size(summary), size(step), places)

    driver("cuMemPrefetchAsync", memory, size(2 * PAGE), 0, None)
    driver("cuMemPrefetchAsync", ctypes.c_uint64(memory.value + 2 * PAGE), size(2 * PAGE), HOST, None)
    assert get(memory, 3 * PAGE, 2 * PAGE, PAGE) == 0
    assert [(place.type, place.id) for place in places] == [(1, 0), (2, 0), (9, 9)]
    assert get(memory, PAGE, 0, 0) == INVALID_VALUE
    assert get(memory, PAGE, 2 * PAGE, 0) == INVALID_VALUE
    assert get(memory, PAGE, PAGE, 2 * PAGE) == INVALID_VALUE
    assert get(memory, 5 * PAGE, PAGE, 0) == INVALID_VALUE
    assert get(driver.allocate(PAGE), PAGE, PAGE, 0) == INVALID_VALUE
    own = ctypes.create_string_buffer(b"\1" * PAGE, PAGE)
    assert get(ctypes.c_uint64(ctypes.addressof(own)), 16, 16, 0) == 0
    assert places[0].type == 2
