"""Which driver a capture is replayed on."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.replay import target
from benchguard.replay.target import BRIDGE_DRIVER, target_of
from benchguard.toolchain.errors import ShimError
from benchguard.toolchain.paths import HIP_BRIDGE, HIP_SIM, SIM

hip_only = pytest.mark.skipif(
    not HIP_BRIDGE.is_file(), reason="no hip_runtime_api.h; `python build.py test --all` fetches Debian's"
)


def test_cuda_target_is_the_driver_itself(native: Path) -> None:
    assert native
    result = target_of("cuda", "sim")
    assert (result.driver.path, result.library, result.environment) == (SIM.resolve(), str(SIM.resolve()), {})


@hip_only
@pytest.mark.parametrize("spec", ["sim", "hip-sim", str(HIP_SIM)])
def test_hip_target_is_the_bridge(spec: str) -> None:
    result = target_of("hip", spec)
    assert (result.driver.api, result.library) == ("hip", str(HIP_BRIDGE))
    assert result.environment[BRIDGE_DRIVER] == str(HIP_SIM.resolve())


@hip_only
def test_hip_compiler_path_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """replay_environment removes what is ours, this too."""
    monkeypatch.setenv("NEUTRINO_NVRTC", "/mine/libnvrtc.so.13")
    assert target_of("hip", "sim").environment["NEUTRINO_NVRTC"] == "/mine/libnvrtc.so.13"


@hip_only
@pytest.mark.parametrize(("api", "spec"), [("cuda", "hip-sim"), ("hip", str(SIM))])
def test_driver_of_another_vendor_is_refused(api: target.Api, spec: str) -> None:
    with pytest.raises(ShimError, match="is needed"):
        target_of(api, spec)


@hip_only
def test_missing_bridge_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(target, "HIP_BRIDGE", tmp_path / "libcuda-over-hip.so")
    with pytest.raises(
        ShimError, match=r"is not built; install HIP's headers and run `python build.py build`"
    ):
        target_of("hip", "sim")
