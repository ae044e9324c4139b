"""The path of NVRTC that the CPU driver's hiprtc gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.shim.nvrtc import VARIABLE, hiprtc_environment
from benchguard.toolchain.paths import HIP_SIM, SIM


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lib64").mkdir()
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    return tmp_path / "lib64"


def test_the_newest_of_a_toolkit_is_named(toolkit: Path) -> None:
    for name in ("libnvrtc.so.12", "libnvrtc.so.13"):
        (toolkit / name).touch()
        assert hiprtc_environment(HIP_SIM) == {VARIABLE: str(toolkit / name)}


@pytest.mark.parametrize("driver", [SIM, Path("/opt/rocm/lib/libamdhip64.so.6")])
def test_no_other_driver_asks_for_it(toolkit: Path, driver: Path) -> None:
    (toolkit / "libnvrtc.so.13").touch()
    assert hiprtc_environment(driver) == {}
