"""Advice on managed memory: remembered, and told."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import INVALID_VALUE, Hip

READ_MOSTLY, PREFERRED_LOCATION, LAST_PREFETCH, COHERENCY = 1, 2, 4, 100
SET_READ_MOSTLY, SET_PREFERRED, COARSE_GRAIN = 1, 3, 100
HOST, NOWHERE = -1, -2
SIZE = ctypes.c_size_t(1 << 16)


@pytest.fixture
def managed(hip: Hip) -> ctypes.c_void_p:
    return hip.handle("hipMallocManaged", SIZE, 1)


def told(hip: Hip, attribute: int, memory: Any) -> int:
    value = ctypes.c_int(99)
    hip("hipMemRangeGetAttribute", ctypes.byref(value), ctypes.c_size_t(4), attribute, memory, SIZE)
    return value.value


def test_advice_is_remembered(hip: Hip, managed: Any) -> None:
    assert (told(hip, READ_MOSTLY, managed), told(hip, PREFERRED_LOCATION, managed)) == (0, NOWHERE)
    hip("hipMemAdvise", managed, SIZE, SET_READ_MOSTLY, 0)
    hip("hipMemAdvise", managed, SIZE, SET_PREFERRED, HOST)
    assert (told(hip, READ_MOSTLY, managed), told(hip, PREFERRED_LOCATION, managed)) == (1, HOST)


def test_a_prefetch_is_remembered(hip: Hip, managed: Any, stream: Any) -> None:
    hip("hipMemPrefetchAsync", managed, SIZE, 0, stream)
    hip("hipStreamSynchronize", stream)
    assert told(hip, LAST_PREFETCH, managed) == 0
    hip("hipMemPrefetchAsync", managed, SIZE, HOST, stream)
    hip("hipStreamSynchronize", stream)
    assert told(hip, LAST_PREFETCH, managed) == HOST


def test_grain_is_amds_word_for_what_is_always_fine_here(hip: Hip, managed: Any) -> None:
    hip("hipMemAdvise", managed, SIZE, COARSE_GRAIN, 0)
    assert told(hip, COHERENCY, managed) == 0


def test_several_are_asked_at_once(hip: Hip, managed: Any) -> None:
    values = [ctypes.c_int(99), ctypes.c_int(99)]
    data = (ctypes.c_void_p * 2)(*(ctypes.addressof(each) for each in values))
    sizes, wanted = (ctypes.c_size_t * 2)(4, 4), (ctypes.c_int * 2)(READ_MOSTLY, COHERENCY)
    hip("hipMemRangeGetAttributes", data, sizes, wanted, ctypes.c_size_t(2), managed, SIZE)
    assert [each.value for each in values] == [0, 0]


def test_memory_that_is_not_managed_takes_none(hip: Hip) -> None:
    assert (
        hip.result("hipMemAdvise", hip.allocate(64), ctypes.c_size_t(64), SET_READ_MOSTLY, 0) == INVALID_VALUE
    )
