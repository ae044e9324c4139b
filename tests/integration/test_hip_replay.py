"""HIP from a program to a result: recorded under its shim, inspected, replayed on the CPU driver's HIP face.

The engine is CUDA's; its kernels are compiled by hiprtc, which the CPU driver has over NVRTC.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import benchguard
from benchguard.capture import Capture
from benchguard.capture.layout import Vendor
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.hip import find_hip_headers
from benchguard.replay.result import Document
from benchguard.toolchain.errors import ShimError
from tests.conftest import ROOT
from tests.integration.apis import Api
from tests.integration.support import PROGRAMS, Compiler, Record, Recorded
from tests.support.captures import COUNT
from tests.support.code_objects import code_object
from tests.support.kernels import PTX_HEAD, SAXPY

N = 1024
KERNELS = SAXPY + COUNT.removeprefix(PTX_HEAD)
pytestmark = pytest.mark.parametrize("api", ["hip"], indirect=True)


@pytest.fixture
def recorded(
    record: Record, compile_c: Compiler, api: Api, tmp_path: Path, request: pytest.FixtureRequest
) -> Recorded:
    """hip_replayed's region, with code as it is asked for: text, or a code object."""
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        pytest.skip(str(error))
    flags = ("-D__HIP_PLATFORM_AMD__", f"-I{PROGRAMS}", "-isystem", str(headers.folder))
    links = (f"-L{api.folder}", f"-l:{api.soname}", f"-Wl,-rpath,{api.folder}")
    program = compile_c("hip/hip_replayed", PROGRAMS / "hip_replayed.c", flags=flags, links=links)
    code = tmp_path / "code"
    text = getattr(request, "param", "object") == "text"
    code.write_bytes(KERNELS.encode() + b"\0" if text else code_object(KERNELS))
    process = record([program, code])
    assert process.status == 0, process.stderr
    return process


def replayed(recorded: Recorded, *options: object) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "benchguard",
        "replay",
        recorded.folder / "x.ncap",
        "--samples",
        5,
        *options,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=200, check=False, env=environment
    )


def places(recorded: Recorded) -> dict[str, int]:
    return {name: int(at) for name, at in map(str.split, recorded.stdout.splitlines())}


def floats(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def outcome(x: list[float]) -> bytes:
    """z: half of y = 2 x + 1, half 0; then z += 2 x, and z += 3 x by the graph."""
    copied = [2 * each + 1 if i < N // 2 else 0 for i, each in enumerate(x)]
    return floats([z + 5 * each for z, each in zip(copied, x, strict=True)])


@pytest.mark.parametrize("recorded", ["text", "object"], indirect=True)
def test_memory_after_a_replay_is_as_recorded(recorded: Recorded) -> None:
    process = replayed(recorded, "--driver", "hip-sim", "--verify")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "verified: memory equals the captured memory, byte for byte" in process.stdout
    assert "libamdhip64.so.5, HIP 50221153" in process.stdout
    assert "clocks not available: NVML reads no devices of HIP" in process.stdout


def test_capture_names_its_vendor(recorded: Recorded) -> None:
    path = recorded.folder / "x.ncap"
    with Capture.open(path) as capture:
        assert capture.device.vendor is Vendor.HIP
        assert {each.call for each in capture.allocations} == {"hipMalloc"}
    words = [sys.executable, "-m", "benchguard", "inspect", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=240, env=environment)
    assert "; driver of HIP 5.2.21153" in shown.stdout
    words.append("--json")
    document = subprocess.run(words, capture_output=True, text=True, check=True, timeout=240, env=environment)
    assert json.loads(document.stdout)["device"]["vendor"] == Vendor.HIP


def test_flush_cache_and_rotating_count_work_on_hip(recorded: Recorded) -> None:
    """60 blocks a multiprocessor are launched before each sample; the CPU driver has no s_icache_inv, as it says."""
    process = replayed(recorded, "--flush-cache", "--rotating-count", 3, "--verify", "--json", "-")
    assert process.returncode == 0, process.stderr
    decoded = msgspec.json.decode(process.stdout.encode(), type=Document)
    assert decoded.verification is not None and decoded.verification.exact
    assert decoded.device is not None and decoded.prepared is not None
    assert decoded.prepared.flush_blocks == 60 * decoded.device.multiprocessors
    assert (decoded.prepared.flushed, decoded.prepared.code_copies, decoded.prepared.copies) == (0, 1, 3)
    assert decoded.icache == "not flushed (no s_icache_inv on this device)"
    assert (decoded.settings.api, decoded.settings.flush_cache, decoded.settings.rotating_count) == (
        "hip",
        True,
        3,
    )


def test_every_cold_mode_replays_exactly(recorded: Recorded) -> None:
    for options in (["--cold", "remap"], ["--cold", "rotate"], ["--icache", "cold"]):
        process = replayed(recorded, "--verify", *options)
        assert process.returncode == 0, (options, process.stderr)


def test_python_inputs_reach_the_kernel(recorded: Recorded) -> None:
    at = places(recorded)
    sets = [[float(n + i) for i in range(N)] for n in range(3)]
    result = benchguard.replay(
        recorded.folder / "x.ncap",
        inputs={at["x"]: [floats(each) for each in sets]},
        outputs=[(at["z"], 4 * N)],
        driver="sim",
        samples=12,
        keep_outputs="sets",
    )
    assert result.verdict == "pass", result.reason
    assert result.outputs == {f"{at['z']:#x}": [outcome(each) for each in sets]}


def test_strict_replay_is_exact(recorded: Recorded) -> None:
    """Strict: on HIP no lines of L2 persist, and what lasts is unmapped while the region runs."""
    result = benchguard.replay(
        recorded.folder / "x.ncap", driver="hip-sim", samples=5, strict=True, verify=True
    )
    assert (result.verdict, result.verified) == ("pass", True), result.reason
    states = {each.check: each.state for each in result.evidence}
    assert states["restored memory"] == "could not tell"


def test_cuda_driver_is_refused(recorded: Recorded, native: Path) -> None:
    with pytest.raises(ShimError, match="is a CUDA driver, but a HIP driver is needed") as refused:
        benchguard.replay(recorded.folder / "x.ncap", driver=str(native / "sim" / "libcuda.so.1"))
    assert "\n" not in str(refused.value)
