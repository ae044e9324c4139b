"""What a region's recording holds of launches, of their kernels and of the code behind them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.recording import Recording, read_recordings
from tests.integration.support import PROGRAMS, Compiler, Observe

COOPERATIVE = 1
MODULE, LIBRARY = 1, 2
PRIORITY, COOPERATIVE_ATTRIBUTE, CLUSTER_DIMENSION = 8, 2, 4
MAX_REGISTERS = 0
MAX_DYNAMIC_SHARED, CARVEOUT = 8, 9
LAYOUT = [(0, 8), (8, 4), (12, 4)]

Launched = tuple[Recording, int]
Launch = Callable[..., Launched]


@pytest.fixture
def launch(observe: Observe, compile_c: Compiler, native: Path, tmp_path: Path) -> Launch:
    """The recording of a region that launches in these forms, and the address of its memory."""

    def run(*forms: str) -> Launched:
        sim = native / "sim"
        links = (f"-L{sim}", "-l:libcuda.so.1", f"-Wl,-rpath,{sim}")
        flags = ("-Wno-deprecated-declarations",)  # CUDA 3's launches
        program = compile_c("region_launches", PROGRAMS / "region_launches.c", flags=flags, links=links)
        folder = tmp_path / "recordings"
        folder.mkdir()
        observed = observe(
            [program, *forms], environment={"NEUTRINO_CAPTURE": str(folder), "NEUTRINO_REGION": "program"}
        )
        assert observed.status == 0, observed.stderr
        (recording,) = read_recordings(folder)
        return recording, int(observed.stdout.split()[1])

    return run


def parameters(memory: int, factor: float) -> bytes:
    return struct.pack("<QfI", memory, factor, 100)


def test_a_launch_is_recorded_with_its_shape_and_parameters(launch: Launch) -> None:
    recording, memory = launch("plain", "plain")
    first, second = recording.operations
    shape = [
        first[name] for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared")
    ]
    assert shape == [4, 3, 2, 32, 2, 1, 128]
    assert (first["parameters"], second["parameters"]) == (parameters(memory, 2.5), parameters(memory, 3.5))
    assert first["kernel"] == second["kernel"] == first["flags"] == 0
    assert recording.refusals == []
    (kernel,) = recording.kernels
    assert (kernel["name"], kernel["parameter_bytes"], kernel["layout"]) == ("scale", 16, LAYOUT)
    assert kernel["settings"] == [] and kernel["registers"] > 0


def test_every_form_of_launch_is_recorded(launch: Launch) -> None:
    """With the parameters that the kernel got, however they came."""
    forms = ["plain", "kernel", "extra", "ex", "cooperative", "cooperative_ex"]
    recording, memory = launch(*forms)
    assert recording.refusals == []
    assert [o["parameters"] for o in recording.operations] == [
        parameters(memory, 2.5 + position) for position in range(len(forms))
    ]
    assert [o["flags"] for o in recording.operations] == [0, 0, 0, 0, COOPERATIVE, COOPERATIVE]
    assert [[number for number, _ in o["attributes"]] for o in recording.operations] == [
        [], [], [], [PRIORITY, CLUSTER_DIMENSION], [], [COOPERATIVE_ATTRIBUTE],
    ]  # fmt: skip
    _, (_, cluster) = recording.operations[3]["attributes"]
    assert struct.unpack_from("<3I", cluster) == (1, 1, 1)
    assert [o["stream"] for o in recording.operations] == [0, 1, 1, 1, 1, 1]


def test_a_librarys_kernel_is_another_modules(launch: Launch) -> None:
    """The same code loaded twice is two modules, each with the options of its load that change code."""
    recording, _ = launch("plain", "kernel")
    assert [(module["kind"], module["options"]) for module in recording.modules] == [
        (MODULE, [(MAX_REGISTERS, 32)]),
        (LIBRARY, []),
    ]
    assert [kernel["module"] for kernel in recording.kernels] == [0, 1]
    images = [recording.images[module["image"]] for module in recording.modules]
    assert images[0] == images[1] and b".visible .entry scale" in images[0]


def test_a_kernel_with_other_attributes_is_another_element(launch: Launch) -> None:
    recording, _ = launch("plain", "shared", "plain", "plain", "carveout", "plain")
    assert [o["kernel"] for o in recording.operations] == [0, 1, 1, 2]
    assert [kernel["settings"] for kernel in recording.kernels] == [
        [],
        [(MAX_DYNAMIC_SHARED, 65536)],
        [(MAX_DYNAMIC_SHARED, 65536), (CARVEOUT, 50)],
    ]


def test_the_most_parameters_there_may_be_are_recorded_whole(launch: Launch) -> None:
    """The audit log keeps 4096 bytes of them."""
    recording, _ = launch("large")
    (only,) = recording.operations
    assert only["parameters"] == bytes(position // 7 % 256 for position in range(32764))
    assert recording.kernels[0]["layout"] == [(0, 32764)]


def test_a_launch_that_the_driver_refused_is_not_recorded(launch: Launch) -> None:
    """Whatever it asked for: the CPU driver has no programmatic events and no launches on several devices."""
    recording, memory = launch("failing", "event", "multi", "plain")
    (only,) = recording.operations
    assert only["parameters"] == parameters(memory, 5.5)
    assert recording.refusals == []


def test_a_launch_that_a_stream_capture_takes_is_no_operation(launch: Launch) -> None:
    recording, memory = launch("graph", "plain")
    assert [o["parameters"] for o in recording.operations] == [parameters(memory, 3.5)]


def test_a_launch_whose_parameters_are_the_functions_state_is_refused(launch: Launch) -> None:
    recording, _ = launch("plain", "legacy")
    ((before, call, reason),) = recording.refusals
    assert (before, call) == (1, "cuLaunchGrid") and "cuParamSet" in reason
    assert len(recording.operations) == 1
