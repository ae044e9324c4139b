"""Compare texture and surface accesses on a GPU with the CPU driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.shim.driver import discover
from tests.corpus.driver import SIM
from tests.device.compare import no_gpu
from tests.device.textures import compare_results, results_of


def test_gpu_and_cpu_driver_read_the_same_through_textures(tmp_path: Path) -> None:
    reason = no_gpu()
    if reason is not None:
        pytest.skip(reason)
    gpu = results_of(discover("auto", api="cuda").path, tmp_path / "gpu.json")
    differences = compare_results(gpu, results_of(SIM, tmp_path / "sim.json"))
    print(*differences, sep="\n")
    assert [each.case.name for each in differences if each.is_problem] == []
