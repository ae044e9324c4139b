"""A command's environment has the vendor's variables for the shim, and none of an outer session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.audit.environment import command_environment
from benchguard.audit.session import Session
from benchguard.shim.interposer import Interposer
from benchguard.shim.surface import FORMAT, Api, DriverFacts, HeaderFacts, Surface


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session(ring_count=1, ring_bytes=1 << 16, image_bytes=0)
    yield session
    session.close()


def interposer(api: Api) -> Interposer:
    soname = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}[api]
    surface = Surface(FORMAT, DriverFacts(soname, None, 0), HeaderFacts(1, ""), (), api)
    driver, shim = Path("/real") / soname, Path("/shim") / soname
    return Interposer(driver, shim, surface, Path("/ours/preload.so"), {}, on_loader_path=False)


@pytest.mark.parametrize(
    ("api", "soname", "prefix", "other"),
    [
        ("cuda", "libcuda.so.1", "NEUTRINO_", "NEUTRINO_HIP_"),
        ("hip", "libamdhip64.so.6", "NEUTRINO_HIP_", "NEUTRINO_"),
    ],
)
def test_environment_variables_by_vendor(
    session: Session, api: Api, soname: str, prefix: str, other: str
) -> None:
    environment = command_environment(interposer(api), session, None, {})
    assert environment[f"{prefix}SHIM"] == f"/shim/{soname}"
    assert environment[f"{prefix}DRIVER"] == f"/real/{soname}"
    assert environment["LD_PRELOAD"] == f"/ours/preload.so:/shim/{soname}"
    assert not {f"{other}SHIM", f"{other}DRIVER"} & set(environment)
    assert ("TRITON_LIBCUDA_PATH" in environment) == (api == "cuda")


def test_shim_of_outer_session_removed(session: Session) -> None:
    """It would write its own slots to our session; what the user preloads stays."""
    outer = command_environment(interposer("cuda"), session, "cublas", {"LD_PRELOAD": "libm.so.6 mine.so"})
    assert outer["LD_PRELOAD"] == "/ours/preload.so:/shim/libcuda.so.1:libm.so.6:mine.so"
    inner = command_environment(interposer("hip"), session, None, outer)
    assert inner["LD_PRELOAD"] == "/ours/preload.so:/shim/libamdhip64.so.6:libm.so.6:mine.so"
    assert not {"NEUTRINO_SHIM", "NEUTRINO_DRIVER", "NEUTRINO_FILTER"} & set(inner)


def test_cpu_drivers_runtime_is_searched_first(session: Session) -> None:
    own = replace(interposer("cuda"), runtime_folder=Path("/sim"))
    assert command_environment(own, session, None, {})["LD_LIBRARY_PATH"] == "/sim"
    base = {"LD_LIBRARY_PATH": "/cuda/lib64:/sim"}
    assert command_environment(own, session, None, base)["LD_LIBRARY_PATH"] == "/sim:/cuda/lib64"
    assert command_environment(own, session, None, base)["LD_PRELOAD"].endswith(":/sim/libneutrino_nvrtc.so")
    assert (
        command_environment(interposer("cuda"), session, None, base)["LD_LIBRARY_PATH"] == "/cuda/lib64:/sim"
    )


def test_driver_variables_set_unless_user_sets_them(session: Session) -> None:
    between = replace(interposer("hip"), environment={"NEUTRINO_NVRTC": "/found"})
    assert command_environment(between, session, None, {})["NEUTRINO_NVRTC"] == "/found"
    environment = command_environment(between, session, None, {"NEUTRINO_NVRTC": "/said"})
    assert environment["NEUTRINO_NVRTC"] == "/said"
