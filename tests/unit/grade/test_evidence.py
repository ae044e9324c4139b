"""Kernels in a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.grade.evidence import LISTED_BYTES, CaptureFacts, facts_of
from benchguard.grade.traces import Trace
from tests.unit.grade.recorded import launch, record


def facts(path: Path, **parts: Any) -> CaptureFacts:
    return facts_of(Trace.of(record(path, **parts)))


def test_kernels_have_image_and_launch_count(tmp_path: Path) -> None:
    capture = record(tmp_path / "x.ncap", operations=[launch(), launch(), launch(grid=(1, 1, 1))])
    kernels = facts_of(Trace.of(capture)).kernels
    assert [(kernel.name, kernel.grid, kernel.launches) for kernel in kernels] == [
        ("saxpy", (2, 1, 1), 2),
        ("saxpy", (1, 1, 1), 1),
    ]
    assert kernels[0].share == pytest.approx(2 / 3)
    assert kernels[0].image_sha256 == capture.images[0].sha256
    assert kernels[0].origin == "/tests/support/captures.py"
    assert [len(kernel.code_sha256) for kernel in kernels] == [1, 1]


def test_listed_kernels_have_bounded_size_and_the_most_launches(tmp_path: Path) -> None:
    shapes = [launch(grid=(number, 1, 1)) for number in range(1, 3000)]
    found = facts(tmp_path / "x.ncap", operations=[*shapes, shapes[-1]])
    assert len(msgspec.json.encode(found)) < 2 * LISTED_BYTES
    assert len(found.kernels) > 500
    assert len(found.kernels) + found.unlisted == len(shapes)
    assert found.kernels[-1].launches == 2


def test_few_kernels_are_all_listed(tmp_path: Path) -> None:
    found = facts(tmp_path / "x.ncap", operations=[launch(), launch(grid=(1, 1, 1))])
    assert (len(found.kernels), found.unlisted) == (2, 0)


def test_uploaded_bytes_are_summed(tmp_path: Path) -> None:
    assert facts(tmp_path / "x.ncap", uploads=[bytes(12), bytes(4)]).uploaded_bytes == 16
