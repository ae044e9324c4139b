"""Launches, kernels and code in the raw capture of a region."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import NO_FLAGS, ModuleKind, OperationFlag
from benchguard.capture.model import Launch as LaunchOperation
from benchguard.capture.model import Option, Parameter, Setting
from tests.integration.apis import Api, both_apis
from tests.integration.support import PROGRAMS, Compiler, Record

COOPERATIVE = OperationFlag.COOPERATIVE
PRIORITY, COOPERATIVE_ATTRIBUTE, CLUSTER_DIMENSION = 8, 2, 4
MAX_REGISTERS = 0
MAX_DYNAMIC_SHARED, CARVEOUT = 8, 9
LAYOUT = (Parameter(0, 8), Parameter(8, 4), Parameter(12, 4))


@dataclass(frozen=True)
class Launched:
    """A capture's region, and the address of the memory that its kernels got."""

    capture: Capture
    memory: int

    @property
    def launches(self) -> list[LaunchOperation]:
        operations = list(self.capture.operations)
        assert all(isinstance(operation, LaunchOperation) for operation in operations)
        return operations

    @property
    def refusals(self) -> list[tuple[int, str, str]]:
        return [(refusal.operation, refusal.call, refusal.reason) for refusal in self.capture.refusals]


Launch = Callable[..., Launched]


@pytest.fixture
def launch(record: Record, compile_c: Compiler, api: Api) -> Iterator[Launch]:
    """The capture of a region that launches in these forms."""
    with ExitStack() as captures:

        def run(*forms: str) -> Launched:
            flags = ("-Wno-deprecated-declarations",)  # CUDA 3's launches
            name, source = f"{api.name}/region_launches", PROGRAMS / "region_launches.c"
            program = compile_c(name, source, *api.sources, flags=flags, links=api.links())
            recorded = record([program, *forms])
            assert recorded.status == 0, recorded.stderr
            capture = captures.enter_context(Capture.open(recorded.folder / "x.ncap"))
            return Launched(capture, int(recorded.stdout.split()[1]))

        yield run


def parameters(memory: int, factor: float) -> bytes:
    return struct.pack("<QfI", memory, factor, 100)


@both_apis
def test_launch_is_recorded_with_shape_and_parameters(launch: Launch) -> None:
    launched = launch("plain", "plain")
    first, second = launched.launches
    assert (first.grid, first.block, first.shared_bytes) == ((4, 3, 2), (32, 2, 1), 128)
    assert first.parameters == parameters(launched.memory, 2.5)
    assert second.parameters == parameters(launched.memory, 3.5)
    assert (first.kernel, second.kernel, first.flags) == (0, 0, NO_FLAGS)
    assert launched.refusals == []
    (kernel,) = launched.capture.kernels
    assert (kernel.name, kernel.parameter_bytes, kernel.layout) == ("scale", 16, LAYOUT)
    assert kernel.attributes == () and kernel.registers > 0


def test_every_form_of_launch_is_recorded(launch: Launch) -> None:
    """With the parameters that the kernel got, however they came."""
    forms = ["plain", "kernel", "extra", "ex", "cooperative", "cooperative_ex"]
    launched = launch(*forms)
    assert launched.refusals == []
    assert [one.parameters for one in launched.launches] == [
        parameters(launched.memory, 2.5 + position) for position in range(len(forms))
    ]
    assert [one.flags for one in launched.launches] == [*[NO_FLAGS] * 4, COOPERATIVE, COOPERATIVE]
    assert [[attribute.id for attribute in one.attributes] for one in launched.launches] == [
        [], [], [], [PRIORITY, CLUSTER_DIMENSION], [], [COOPERATIVE_ATTRIBUTE],
    ]  # fmt: skip
    cluster = launched.launches[3].attributes[1].value
    assert struct.unpack_from("<3I", cluster) == (1, 1, 1)
    assert [one.stream for one in launched.launches] == [0, 1, 1, 1, 1, 1]


def test_code_loaded_twice_is_two_modules(launch: Launch) -> None:
    """The same code loaded twice is two modules, each with the options of its load that change code."""
    capture = launch("plain", "kernel").capture
    assert [(module.kind, module.options) for module in capture.modules] == [
        (ModuleKind.MODULE, (Option(MAX_REGISTERS, 32),)),
        (ModuleKind.LIBRARY, ()),
    ]
    assert [kernel.module for kernel in capture.kernels] == [0, 1]
    images = [capture.image(module.image) for module in capture.modules]
    assert images[0] == images[1] and b".visible .entry scale" in images[0]


def test_kernel_with_other_attributes_is_another_element(launch: Launch) -> None:
    launched = launch("plain", "shared", "plain", "plain", "carveout", "plain")
    assert [one.kernel for one in launched.launches] == [0, 1, 1, 2]
    shared, carveout = Setting(MAX_DYNAMIC_SHARED, 65536), Setting(CARVEOUT, 50)
    kernels = list(launched.capture.kernels)
    assert [kernel.attributes for kernel in kernels] == [(), (shared,), (shared, carveout)]


@both_apis
def test_largest_parameter_block_is_recorded_in_full(launch: Launch) -> None:
    """The audit log keeps 4096 bytes of them."""
    launched = launch("large")
    (only,) = launched.launches
    assert only.parameters == bytes(position // 7 % 256 for position in range(32764))
    assert launched.capture.kernels[0].layout == (Parameter(0, 32764),)


def test_refused_launch_is_not_recorded(launch: Launch) -> None:
    """Whatever it asked for: the CPU driver has no programmatic events and no launches on several devices."""
    launched = launch("failing", "event", "multi", "plain")
    (only,) = launched.launches
    assert only.parameters == parameters(launched.memory, 5.5)
    assert launched.refusals == []


@both_apis
def test_launch_in_a_stream_capture_is_not_an_operation(launch: Launch) -> None:
    launched = launch("graph", "plain")
    assert [one.parameters for one in launched.launches] == [parameters(launched.memory, 3.5)]


def test_launch_with_parameters_set_on_the_function_is_refused(launch: Launch) -> None:
    launched = launch("plain", "legacy")
    ((before, call, reason),) = launched.refusals
    assert (before, call) == (1, "cuLaunchGrid") and "cuParamSet" in reason
    assert len(launched.launches) == 1
