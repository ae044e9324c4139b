"""The time that two events around a launch add to its own."""

from __future__ import annotations

from pathlib import Path

from benchguard.gpu.launch_overhead import launch_overhead
from tests.conftest import ROOT


def test_overhead_is_measured_and_none_without_a_driver(tmp_path: Path) -> None:
    overhead = launch_overhead(ROOT / "benchguard" / "native" / "sim" / "libcuda.so.1")
    assert overhead is not None and 0 <= overhead < 1_000_000_000
    assert launch_overhead(tmp_path / "libcuda.so.1") is None
