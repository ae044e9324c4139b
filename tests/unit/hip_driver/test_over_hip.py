"""libcuda-over-hip.so: the driver functions that a replay calls, over the CPU driver's HIP."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAM = Path(__file__).parent / "programs" / "over_hip.c"
REAL = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu" / "libamdhip64.so.5"
HOW = "`python build.py test --all` fetches Debian's libamdhip64"
PARTS = [
    "devices",
    "contexts",
    "pointers",
    "virtual",
    "copies",
    "sets",
    "launches",
    "libraries",
    "streams",
    "graphs",
]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bridge(native: Path) -> Path:
    path = native / "hip" / "libcuda-over-hip.so"
    if not path.is_file():
        pytest.skip(f"{path} is not built: no hip_runtime_api.h; {HOW}")
    return path


@pytest.fixture
def run(bridge: Path, compile_c: Callable[..., Path]) -> Run:
    """The program over the HIP library at a path."""
    links = (str(bridge), f"-Wl,-rpath,{bridge.parent}")
    program = compile_c("over_hip", PROGRAM, links=links)

    def over(library: Path | str, *parts: str, folders: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "NEUTRINO_BRIDGE_DRIVER": str(library),
            "LD_LIBRARY_PATH": folders or os.environ.get("LD_LIBRARY_PATH", ""),
        }
        return subprocess.run(
            [program, *parts], env=environment, capture_output=True, text=True, timeout=240, check=False
        )

    return over


@pytest.mark.parametrize("part", PARTS)
def test_driver_function_calls_its_hip_function(run: Run, bridge: Path, part: str) -> None:
    result = run(bridge.parent / "libamdhip64.so.5", part)
    assert (result.returncode, result.stderr) == (0, "")


def test_bridge_exports_every_function_of_a_replay(bridge: Path) -> None:
    engine = (ROOT / "engine" / "replay" / "base" / "driver.h").read_text()
    needed = re.findall(r"\bX\((cu\w+)\)", engine)
    library = ctypes.CDLL(str(bridge))
    assert needed and [name for name in needed if not hasattr(library, name)] == []


def test_missing_hip_library_is_reported_at_the_first_call(run: Run) -> None:
    result = run("/nowhere/libamdhip64.so.5")
    assert result.stdout == "cuInit 801\n"
    (line,) = result.stderr.splitlines()
    assert line.startswith("neutrino: no HIP library: /nowhere/libamdhip64.so.5") and line.endswith(
        "set NEUTRINO_BRIDGE_DRIVER to the path of a libamdhip64.so"
    )


@pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} is missing; {HOW}")
def test_bridge_returns_the_results_of_amds_library(run: Run) -> None:
    """Which on a machine without an AMD GPU is an error."""
    request = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).hipInit(0))"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(REAL.parent)}
    own = subprocess.run(
        [sys.executable, "-c", request, str(REAL)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run(REAL, folders=str(REAL.parent)).stdout == f"cuInit {own.stdout}"
