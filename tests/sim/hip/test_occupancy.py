"""Occupancy, peers and handles for other processes: what one small device answers."""

from __future__ import annotations

import ctypes
from typing import Any

from .conftest import INVALID_DEVICE_FUNCTION, NOT_SUPPORTED, Hip

INVALID_DEVICE, PEER_NOT_ENABLED = 101, 705
NO_SHARED = ctypes.c_size_t(0)


def test_occupancy_follows_block_size(hip: Hip, store: Any) -> None:
    for name in (
        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        "hipOccupancyMaxActiveBlocksPerMultiprocessor",
    ):
        blocks = {size: hip.number(name, store, size, NO_SHARED) for size in (256, 512, 1024)}
        assert blocks[256] == 2 * blocks[512] == 4 * blocks[1024] > 0
        assert hip.number(f"{name}WithFlags", store, 256, NO_SHARED, 0) == blocks[256]


def test_occupancy_falls_with_shared_memory(hip: Hip, store: Any) -> None:
    name = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"
    assert hip.number(name, store, 32, ctypes.c_size_t(40 << 10)) < hip.number(name, store, 32, NO_SHARED)


def test_potential_block_size_fills_the_device(hip: Hip, store: Any) -> None:
    results = []
    for name in ("hipModuleOccupancyMaxPotentialBlockSize", "hipOccupancyMaxPotentialBlockSize"):
        grid, block = ctypes.c_int(), ctypes.c_int()
        hip(name, ctypes.byref(grid), ctypes.byref(block), store, NO_SHARED, 0)
        results.append((grid.value, block.value))
    each = hip.number("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", store, results[0][1], NO_SHARED)
    assert results[0] == results[1] == (16 * each, results[0][1])


def test_occupancy_of_unknown_kernel_fails(hip: Hip) -> None:
    name = "hipOccupancyMaxActiveBlocksPerMultiprocessor"
    unknown = ctypes.create_string_buffer(8)
    assert hip.result(name, ctypes.byref(ctypes.c_int()), unknown, 32, NO_SHARED) == INVALID_DEVICE_FUNCTION


def test_single_device_has_no_peer(hip: Hip) -> None:
    assert hip.number("hipDeviceCanAccessPeer", 0, 0) == 0
    assert hip.result("hipDeviceEnablePeerAccess", 0, 0) == INVALID_DEVICE
    assert hip.result("hipDeviceEnablePeerAccess", 1, 0) == INVALID_DEVICE
    assert hip.result("hipDeviceDisablePeerAccess", 0) == PEER_NOT_ENABLED
    assert hip.result("hipDeviceDisablePeerAccess", 1) == INVALID_DEVICE


def test_ipc_memory_handle_is_not_supported(hip: Hip) -> None:
    handle = ctypes.create_string_buffer(64)
    assert hip.result("hipIpcGetMemHandle", handle, hip.allocate(4)) == NOT_SUPPORTED


def test_profiler_calls_succeed(hip: Hip) -> None:
    hip("hipProfilerStart")
    hip("hipProfilerStop")
