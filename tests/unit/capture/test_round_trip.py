"""Elements written to a capture are read back unchanged."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from benchguard.capture import Capture
from benchguard.capture.layout import ARENA, PAGE, Kind
from benchguard.capture.overview import overview

from .strategies import PAGES, Bulk, Elements, captures, write


@pytest.mark.full
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(captures())
def test_written_elements_are_read_back(found: Elements) -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected = write(Path(folder) / "x.ncap", found)
        with Capture.open(Path(folder) / "x.ncap") as capture:
            for kind, elements in expected.items():
                if kind not in {Kind.BEFORE, Kind.AFTER}:
                    assert list(capture.table(kind)) == elements
            assert_contents(capture, found)
            assert_memory(capture, found)
            assert sum(overview(capture, lambda _: None).operations.values()) <= len(capture.operations)
            capture.check_blobs()


def assert_contents(capture: Capture, found: Elements) -> None:
    for kind, elements in found.items():
        if kind in {Kind.BEFORE, Kind.AFTER}:
            continue
        for one, other in zip(elements, capture.table(kind), strict=True):
            for name in one.__struct_fields__:
                if isinstance(value := getattr(one, name), Bulk):
                    assert capture.content(getattr(other, name)) == value.raw


def assert_memory(capture: Capture, found: Elements) -> None:
    size = PAGES * PAGE
    memory = bytearray(size)
    for kind in (Kind.BEFORE, Kind.AFTER):
        for address, raw, length in found[kind]:
            memory[address - ARENA : address - ARENA + length] = raw or bytes(length)
        assert capture.memory(ARENA, size, after=kind is Kind.AFTER) == memory
    assert capture.memory(ARENA + 100, 5000, after=True) == memory[100:5100]
