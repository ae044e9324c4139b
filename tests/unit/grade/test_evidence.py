"""Kernels in a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.grade.evidence import kernels_of, uploaded_bytes
from tests.unit.grade.recorded import launch, record


def test_kernels_have_image_and_launch_count(tmp_path: Path) -> None:
    capture = record(tmp_path / "x.ncap", operations=[launch(), launch(), launch(grid=(1, 1, 1))])
    kernels = kernels_of(capture)
    assert [(kernel.name, kernel.grid, kernel.launches) for kernel in kernels] == [
        ("saxpy", (2, 1, 1), 2),
        ("saxpy", (1, 1, 1), 1),
    ]
    assert kernels[0].share == pytest.approx(2 / 3)
    assert kernels[0].image_sha256 == capture.images[0].sha256
    assert kernels[0].origin == "/tests/support/captures.py"
    assert [len(kernel.code_sha256) for kernel in kernels] == [1, 1]


def test_uploaded_bytes_are_summed(tmp_path: Path) -> None:
    assert uploaded_bytes(record(tmp_path / "x.ncap", uploads=[bytes(12), bytes(4)])) == 16
