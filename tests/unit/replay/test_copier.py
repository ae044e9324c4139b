"""Copies by several threads (engine/replay/state/copier.c)."""

from __future__ import annotations

import ctypes
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchguard.toolchain.paths import ENGINES

HELPERS = 3
PIECE = 64 << 10


@pytest.fixture(scope="module")
def library(compile_c: Callable[..., Path]) -> ctypes.CDLL:
    source = Path(__file__).parent / "programs" / "copier.c"
    library = ctypes.CDLL(
        str(compile_c("copier.so", source, flags=(f"-I{ENGINES}", "-D_GNU_SOURCE", "-pthread")))
    )
    library.copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    return library


@pytest.fixture(params=[0, 1, HELPERS])
def copier(library: ctypes.CDLL, request: pytest.FixtureRequest) -> Iterator[ctypes.CDLL]:
    assert library.open_with(request.param) == request.param
    yield library
    library.end()


def test_copies_of_any_size_give_the_same_bytes_and_write_nothing_else(copier: ctypes.CDLL) -> None:
    chance = random.Random(5)
    source = os.urandom(4 << 20)
    sizes = [0, 1, 4 * PIECE - 1, 4 * PIECE, 4 * PIECE + 1, len(source)]
    sizes += [chance.randrange(len(source)) for _ in range(40)]
    for size in sizes:
        begin = chance.randrange(len(source) - size + 1)
        part = source[begin : begin + size]
        into = ctypes.create_string_buffer(b"\xa5" * (size + 64), size + 64)
        copier.copy(into, part, size)
        assert into.raw == part + b"\xa5" * 64, (begin, size)


def test_copies_of_helpers_that_went_to_sleep_are_complete(copier: ctypes.CDLL) -> None:
    source = os.urandom(2 << 20)
    for _ in range(5):
        time.sleep(0.02)
        into = ctypes.create_string_buffer(len(source))
        copier.copy(into, source, len(source))
        assert into.raw == source


def test_helpers_without_work_sleep(library: ctypes.CDLL) -> None:
    """They would take processors from the judge."""
    assert library.open_with(HELPERS) == HELPERS
    try:
        until = time.monotonic() + 10
        while library.sleeping() < HELPERS and time.monotonic() < until:
            time.sleep(0.01)
        assert library.sleeping() == HELPERS
    finally:
        library.end()


def test_more_helpers_than_there_are_places_for_start_no_more(library: ctypes.CDLL) -> None:
    assert library.open_with(HELPERS + 5) == HELPERS
    library.end()
