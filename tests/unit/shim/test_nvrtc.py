"""Who is told where NVRTC is, and that what the environment says stands."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.shim import driver as drivers
from benchguard.shim.driver import Driver, discover
from benchguard.shim.nvrtc import nvrtc_environment
from benchguard.shim.vendors import CUDA, HIP


class Wheel:
    """As importlib.metadata has one that is installed in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.files = [
            Path("nvidia/cu13/lib/libnvrtc-builtins.so.13.0"),
            Path("nvidia/cu13/lib/libnvrtc.so.13"),
        ]
        self.locate_file = folder.joinpath


@pytest.fixture
def hip_sim(make_library: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Driver:
    hip = replace(HIP, sim=make_library("libamdhip64.so.5", "hipInit"))
    monkeypatch.setattr(drivers, "VENDORS", (CUDA, hip))
    return discover(str(hip.sim))


def test_the_cpu_driver_as_hips_is_told_of_the_wheels(
    hip_sim: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Wheel(tmp_path))
    wanted = {"NEUTRINO_NVRTC": str(tmp_path / "nvidia/cu13/lib/libnvrtc.so.13")}
    assert nvrtc_environment(hip_sim) == wanted


def test_no_other_driver_is(make_library: Callable[..., Path], driver_file: Path, hip_sim: Driver) -> None:
    assert hip_sim.is_sim
    for path in (make_library("other/libamdhip64.so.5", "hipInit"), driver_file):
        assert nvrtc_environment(discover(str(path))) == {}


def test_without_the_wheel_the_loader_is_left_to_find_it(
    hip_sim: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", none)
    assert nvrtc_environment(hip_sim) == {}
