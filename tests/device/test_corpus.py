"""Compare the corpus on a GPU with the CPU driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.driver import SIM
from tests.device.compare import no_gpu
from tests.device.corpus import compare_drivers


@pytest.mark.timeout(1000)
def test_gpu_and_cpu_driver_outputs_agree(tmp_path: Path) -> None:
    reason = no_gpu()
    if reason is not None:
        pytest.skip(reason)
    assert SIM.is_file(), "run `python build.py build`"
    result = compare_drivers(tmp_path)
    print(result)
    assert result.problems == []
    assert result.exact > 500
