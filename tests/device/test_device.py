"""Compare programs on a GPU with and without the shim, and check their logs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.device.cases import ALL, GpuProgram
from tests.device.compare import compare, no_gpu


@cache
def reason_to_skip() -> str | None:
    return no_gpu()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_shim_keeps_results_and_logs_all_launches(program: GpuProgram, tmp_path: Path) -> None:
    reason = reason_to_skip()
    if reason is not None:
        pytest.skip(reason)
    if program.missing():
        pytest.skip(f"{', '.join(program.missing())} not installed")
    comparison = compare(program, tmp_path)
    if comparison.cannot_run is not None:
        pytest.skip(comparison.cannot_run)
    assert comparison.problems == []
