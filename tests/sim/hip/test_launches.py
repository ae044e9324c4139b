"""Launches of every form, of kernels of modules and of those linked in."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from tests.sim.conftest import PTX_HEAD
from tests.support.code_objects import sim_bundle

from .conftest import INVALID_DEVICE_FUNCTION, INVALID_VALUE, Dim3, Hip, pointers_to

EXT = "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"
HCC = "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"
GGL = "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv"
INVALID_CONFIGURATION, MISSING_CONFIGURATION = 9, 52
COUNT = (
    PTX_HEAD
    + """
.visible .entry count(.param .u64 to, .param .u32 step)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [step];
    red.global.add.u32 [%rd1], %r1;
    ret;
}
"""
)
"""Each thread adds `step`."""


class Arguments(ctypes.Structure):
    _fields_ = (("to", ctypes.c_void_p), ("step", ctypes.c_uint32))


class Wrapper(ctypes.Structure):
    """Code as hipcc's start-up code registers it."""

    _fields_ = (
        ("magic", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("binary", ctypes.c_void_p),
        ("unused", ctypes.c_void_p),
    )


def wrapper(image: ctypes.Array[ctypes.c_char]) -> Wrapper:
    return Wrapper(0x48495046, 1, ctypes.addressof(image), None)


class Registered:
    """Kernel `count`, registered under an address as hipcc's start-up code does."""

    def __init__(self, hip: Hip, image: bytes = sim_bundle(COUNT)) -> None:
        self.hip = hip
        self.image = ctypes.create_string_buffer(image)
        self.wrapper = wrapper(self.image)
        self.stub = ctypes.create_string_buffer(1)
        getattr(hip.library, "__hipRegisterFatBinary").restype = ctypes.c_void_p
        self.modules = ctypes.c_void_p(
            getattr(hip.library, "__hipRegisterFatBinary")(ctypes.byref(self.wrapper))
        )
        getattr(hip.library, "__hipRegisterFunction")(
            self.modules, self.stub, b"count", b"count", -1, None, None, None, None, None
        )

    def __enter__(self) -> Registered:
        return self

    def __exit__(self, *_: object) -> None:
        getattr(self.hip.library, "__hipUnregisterFatBinary")(self.modules)


@pytest.fixture(scope="module")
def count(hip: Hip) -> ctypes.c_void_p:
    return hip.function(sim_bundle(COUNT), "count")


def buffer_of(arguments: Arguments, end: int = 3) -> tuple[Any, ctypes.c_size_t]:
    """`extra`: HIP's list ends with 3, CUDA's with 0. With what must live as long."""
    bytes_ = ctypes.c_size_t(ctypes.sizeof(arguments))
    words = (ctypes.c_void_p * 5)(1, ctypes.addressof(arguments), 2, ctypes.addressof(bytes_), end)
    return words, bytes_


def test_launch_accepts_an_argument_list(hip: Hip, count: ctypes.c_void_p) -> None:
    memory = hip.zeroed(1)
    assert hip.launch(count, [memory, ctypes.c_uint32(2)], grid=3, block=4) == 0
    assert hip.words(memory, 1) == [24]


def test_launch_accepts_packed_arguments(hip: Hip, count: ctypes.c_void_p) -> None:
    memory = hip.zeroed(1)
    arguments = Arguments(memory.value, 5)
    extra, _ = buffer_of(arguments)
    shape = (1, 1, 1, 2, 1, 1, 0, None, None)
    hip("hipModuleLaunchKernel", count, *shape, extra)
    assert hip.words(memory, 1) == [10]
    wrong, _ = buffer_of(arguments, end=0)
    assert hip.result("hipModuleLaunchKernel", count, *shape, wrong) == INVALID_VALUE
    short, size = buffer_of(arguments)
    size.value = 11
    assert hip.result("hipModuleLaunchKernel", count, *shape, short) == INVALID_VALUE


@pytest.mark.parametrize("name", [EXT, HCC])
def test_extended_launch_takes_its_grid_in_threads(hip: Hip, count: ctypes.c_void_p, name: str) -> None:
    """And its events are recorded around it."""
    memory = hip.zeroed(1)
    arguments = [memory, ctypes.c_uint32(1)]
    start, stop = hip.handle("hipEventCreate"), hip.handle("hipEventCreate")
    last = (0,) if name == EXT else ()
    shape = (12, 2, 1, 4, 2, 1, ctypes.c_size_t(0), None)
    hip(name, count, *shape, pointers_to(arguments), None, start, stop, *last)
    assert hip.words(memory, 1) == [24]
    elapsed = ctypes.c_float(-1)
    hip("hipEventElapsedTime", ctypes.byref(elapsed), start, stop)
    assert elapsed.value >= 0
    uneven = (13, 2, 1, 4, 2, 1, ctypes.c_size_t(0), None)
    result = hip.result(name, count, *uneven, pointers_to(arguments), None, None, None, *last)
    assert result == INVALID_CONFIGURATION


@pytest.mark.parametrize(
    "name",
    [
        "hipLaunchKernel",
        "hipLaunchKernel_spt",
        "hipLaunchCooperativeKernel",
        "hipLaunchCooperativeKernel_spt",
    ],
)
def test_linked_in_kernel_launches_by_its_address(hip: Hip, name: str) -> None:
    memory = hip.zeroed(1)
    with Registered(hip) as kernel:
        arguments = [memory, ctypes.c_uint32(1)]
        parameters = pointers_to(arguments)
        hip(name, kernel.stub, Dim3(2, 1, 1), Dim3(4, 1, 1), parameters, ctypes.c_size_t(0), None)
        assert hip.words(memory, 1) == [8]
        too_many = hip.result(
            name, kernel.stub, Dim3(2, 1, 1), Dim3(4096, 1, 1), parameters, ctypes.c_size_t(0), None
        )
        assert too_many == INVALID_CONFIGURATION
    assert hip.result(name, kernel.stub, Dim3(1, 1, 1), Dim3(1, 1, 1), None, ctypes.c_size_t(0), None) == (
        INVALID_DEVICE_FUNCTION
    )


def test_extended_launch_records_both_events(hip: Hip) -> None:
    memory, stop = hip.zeroed(1), hip.handle("hipEventCreate")
    with Registered(hip) as kernel:
        arguments = [memory, ctypes.c_uint32(3)]
        parameters = pointers_to(arguments)
        shape = (Dim3(1, 1, 1), Dim3(2, 1, 1))
        hip("hipExtLaunchKernel", kernel.stub, *shape, parameters, ctypes.c_size_t(0), None, None, stop, 0)
        hip("hipEventSynchronize", stop)
        assert hip.words(memory, 1) == [6]


def test_configured_launch_runs_with_its_arguments(hip: Hip) -> None:
    memory = hip.zeroed(1)
    with Registered(hip) as kernel:
        hip("hipConfigureCall", Dim3(3, 1, 1), Dim3(1, 1, 1), ctypes.c_size_t(0), None)
        hip("hipSetupArgument", ctypes.byref(memory), ctypes.c_size_t(8), ctypes.c_size_t(0))
        hip("hipSetupArgument", ctypes.byref(ctypes.c_uint32(7)), ctypes.c_size_t(4), ctypes.c_size_t(8))
        hip("hipLaunchByPtr", kernel.stub)
        assert hip.words(memory, 1) == [21]
        assert hip.result("hipLaunchByPtr", kernel.stub) == MISSING_CONFIGURATION
        hip("hipConfigureCall", Dim3(1, 1, 1), Dim3(1, 1, 1), ctypes.c_size_t(0), None)
        beyond = hip.result(
            "hipSetupArgument", ctypes.byref(memory), ctypes.c_size_t(8), ctypes.c_size_t(4090)
        )
        assert beyond == INVALID_VALUE
        hip("hipSetupArgument", ctypes.byref(memory), ctypes.c_size_t(8), ctypes.c_size_t(0))
        hip("hipSetupArgument", ctypes.byref(ctypes.c_uint32(1)), ctypes.c_size_t(4), ctypes.c_size_t(8))
        hip("hipLaunchByPtr", kernel.stub)
        assert hip.words(memory, 1) == [22]


def test_hip_impl_launch_runs(hip: Hip) -> None:
    memory = hip.zeroed(1)
    arguments = Arguments(memory.value, 9)
    extra, _ = buffer_of(arguments)
    with Registered(hip) as kernel:
        grid, block = Dim3(1, 1, 1), Dim3(2, 1, 1)
        getattr(hip.library, GGL)(kernel.stub, ctypes.byref(grid), ctypes.byref(block), 0, None, extra)
        assert hip.result("hipGetLastError") == 0
        assert hip.words(memory, 1) == [18]


def test_launch_configurations_pop_in_reverse_order(hip: Hip) -> None:
    """What <<<>>> becomes; evaluating arguments may launch."""
    for number in (1, 2):
        hip("__hipPushCallConfiguration", Dim3(number, 1, 1), Dim3(1, 1, 1), ctypes.c_size_t(number), None)
    for number in (2, 1):
        grid, block, shared, stream = Dim3(), Dim3(), ctypes.c_size_t(), ctypes.c_void_p()
        hip("__hipPopCallConfiguration", *map(ctypes.byref, (grid, block, shared, stream)))
        assert (grid.x, shared.value) == (number, number)
    assert (
        hip.result("__hipPopCallConfiguration", *map(ctypes.byref, (grid, block, shared, stream)))
        == MISSING_CONFIGURATION
    )


def test_managed_global_is_shared_by_host_and_device(hip: Hip) -> None:
    """The program reads a pointer, and kernels a variable of that name that holds the same pointer."""
    source = COUNT.replace(
        ".visible .entry", ".visible .global .align 8 .u64 total;\n.visible .entry", 1
    ).replace("ld.param.u64 %rd1, [to]", "ld.global.u64 %rd1, [total]")
    pointer, initial = ctypes.c_void_p(), ctypes.c_uint32(100)
    with Registered(hip, sim_bundle(source)) as kernel:
        getattr(hip.library, "__hipRegisterManagedVar")(
            kernel.modules, ctypes.byref(pointer), ctypes.byref(initial), b"total", ctypes.c_size_t(4), 4
        )
        arguments = [ctypes.c_void_p(), ctypes.c_uint32(1)]
        parameters = pointers_to(arguments)
        hip(
            "hipLaunchKernel", kernel.stub, Dim3(1, 1, 1), Dim3(5, 1, 1), parameters, ctypes.c_size_t(0), None
        )
        hip("hipDeviceSynchronize")
        assert ctypes.c_uint32.from_address(pointer.value or 0).value == 105


@pytest.mark.parametrize("damage", ["magic", "version", "binary"])
def test_damaged_wrapper_is_reported_at_the_first_launch(hip: Hip, damage: str) -> None:
    with Registered(hip) as kernel:
        setattr(kernel.wrapper, damage, 0)
        launched = hip.result(
            "hipLaunchKernel", kernel.stub, Dim3(1, 1, 1), Dim3(1, 1, 1), None, ctypes.c_size_t(0), None
        )
        assert launched == 200


def test_kernel_name_and_attributes_are_reported(hip: Hip, count: ctypes.c_void_p) -> None:
    for name, argument in (("hipKernelNameRef", count), ("hipKernelNameRefByPtr", None)):
        function = getattr(hip.library, name)
        function.restype = ctypes.c_char_p
        with Registered(hip) as kernel:
            assert function(argument or kernel.stub, None) == b"count"
    threads = ctypes.c_int()
    hip("hipFuncGetAttribute", ctypes.byref(threads), 0, count)
    assert threads.value == 1024
