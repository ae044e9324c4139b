"""Programs as hipcc makes them: code linked in and registered before main."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sim.conftest import STORE
from tests.support.code_objects import HOST, bundle, code_object, compressed, sim_bundle
from tests.support.hip_programs import linked_in

PROGRAM = Path(__file__).parents[1] / "programs" / "hip_linked_in.c"
CODE = {
    "a bundle": sim_bundle(STORE),
    "a compressed bundle": compressed(sim_bundle(STORE)),
}


def run(
    name: str, code: bytes, hip_path: Path, compile_c: Callable[..., Path], folder: Path
) -> subprocess.CompletedProcess[str]:
    registered = folder / "registered.c"
    registered.write_text(linked_in(code, ["store"], {"counter": 4}))
    program = compile_c(
        f"hip_linked_in_{name.replace(' ', '_')}", PROGRAM, registered, links=(str(hip_path),)
    )
    environment = os.environ | {"LD_LIBRARY_PATH": str(hip_path.parent)}
    return subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=240, check=False
    )


@pytest.mark.parametrize("name", CODE)
def test_linked_in_kernel_runs_by_its_host_address(
    hip_path: Path, compile_c: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    ran = run(name, CODE[name], hip_path, compile_c, tmp_path)
    assert (ran.stdout, ran.stderr, ran.returncode) == (
        "launched 5, in a graph 6, counter 7, then 9 and 11\n",
        "",
        0,
    )


def test_code_for_other_devices_is_reported_at_launch(
    hip_path: Path, compile_c: Callable[..., Path], tmp_path: Path
) -> None:
    other = bundle({HOST: b"", "hipv4-amdgcn-amd-amdhsa--gfx90a": code_object(STORE, "gfx90a")})
    ran = run("other devices", other, hip_path, compile_c, tmp_path)
    assert ran.returncode == 1
    assert "hipLaunchKernel returned 209" in ran.stderr
