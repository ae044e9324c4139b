"""Invalid launches. Codes are those of an NVIDIA H200 (driver 580.159.04)."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import PTX_HEAD, Driver
from .isolated import isolated
from .test_launch import Attribute, Config

H200: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "h200.json").read_text())
KERNELS = (
    PTX_HEAD
    + ".visible .entry plain() { ret; }\n"
    + ".visible .entry most() .maxntid 128, 1, 1 { ret; }\n"
    + ".visible .entry exact() .reqntid 64 { ret; }\n"
    + ".visible .entry shared() { .shared .b8 s[40000]; .reg .b32 %r; mov.u32 %r, s; ret; }\n"
    + ".visible .entry three(.param .u64 a, .param .u32 b) { ret; }\n"
)
INVALID, OUT_OF_RESOURCES, HANDLE, TOO_LARGE, NOT_SUPPORTED, CLUSTER = 1, 701, 400, 720, 801, 912


def launch_shape(
    driver: Driver,
    name: str,
    grid: tuple[int, ...] = (1, 1, 1),
    block: tuple[int, ...] = (1, 1, 1),
    shared: int = 0,
) -> int:
    function = driver.function(KERNELS, name)
    return driver.result("cuLaunchKernel", function, *grid, *block, shared, None, None, None)


@pytest.mark.parametrize(
    "grid", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 65536, 1), (1, 1, 65536), (1 << 31, 1, 1)]
)
def test_invalid_grid_is_refused(driver: Driver, grid: tuple[int, ...]) -> None:
    assert launch_shape(driver, "plain", grid=grid) == INVALID


@pytest.mark.parametrize(
    ("name", "block", "code"),
    [
        ("plain", (1024, 1, 1), 0),
        ("plain", (0, 1, 1), INVALID),
        ("plain", (1025, 1, 1), INVALID),
        ("plain", (1, 1, 65), INVALID),
        ("plain", (32, 32, 2), INVALID),
        ("most", (128, 1, 1), 0),
        ("most", (129, 1, 1), INVALID),
        ("exact", (64, 1, 1), 0),
        ("exact", (63, 1, 1), INVALID),
        ("exact", (32, 2, 1), INVALID),
        ("exact", (128, 1, 1), INVALID),
    ],
)
def test_block_shape_is_checked(driver: Driver, name: str, block: tuple[int, ...], code: int) -> None:
    assert launch_shape(driver, name, block=block) == code


@pytest.mark.parametrize(
    ("name", "shared", "code"),
    [
        ("plain", 49152, 0),
        ("plain", 49153, INVALID),
        ("plain", 0xFFFFFFFF, INVALID),
        ("shared", 9152, 0),
        ("shared", 9153, INVALID),
    ],
)
def test_shared_memory_above_limit_is_refused(driver: Driver, name: str, shared: int, code: int) -> None:
    assert launch_shape(driver, name, shared=shared) == code


@pytest.mark.parametrize(
    ("size", "code"), [(12, 0), (11, 0), (13, OUT_OF_RESOURCES), (16, OUT_OF_RESOURCES), (0, INVALID)]
)
def test_packed_parameter_size_is_checked(driver: Driver, size: int, code: int) -> None:
    buffer, count = ctypes.create_string_buffer(64), ctypes.c_size_t(size)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(count), 0)
    function = driver.function(KERNELS, "three")
    assert driver.result("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, None, extra) == code


def test_invalid_parameter_lists_are_refused(driver: Driver) -> None:
    function = driver.function(KERNELS, "three")
    buffer, count = ctypes.create_string_buffer(64), ctypes.c_size_t(12)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), ctypes.addressof(buffer))
    size = (2, ctypes.addressof(count))

    def launch(parameters: Any, *tags: int) -> int:
        extra = (ctypes.c_void_p * 6)(*tags, 0) if tags else None
        return driver.result("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, parameters, extra)

    assert launch(None, 1, ctypes.addressof(buffer), *size) == 0
    assert launch(pointers, 1, ctypes.addressof(buffer), *size) == INVALID  # parameters and extra
    assert launch(None, 9, ctypes.addressof(buffer), *size) == INVALID  # unknown tag
    assert launch(None, *size) == INVALID  # NULL buffer
    assert launch(None) == INVALID
    assert launch((ctypes.c_void_p * 2)(ctypes.addressof(buffer), None)) == INVALID


def test_invalid_function_is_refused(driver: Driver) -> None:
    for name in ("cuLaunchKernel", "cuLaunchKernel_ptsz"):
        assert driver.result(name, None, 1, 1, 1, 1, 1, 1, 0, None, None, None) == HANDLE


def launch_cooperative(driver: Driver, grid: int, block: int = 64) -> int:
    function = driver.function(KERNELS, "plain")
    return driver.result("cuLaunchCooperativeKernel", function, grid, 1, 1, block, 1, 1, 0, None, None)


def test_cooperative_grid_must_be_resident(driver: Driver) -> None:
    """The model has 16 multiprocessors with 32 blocks each."""
    assert launch_cooperative(driver, 512) == 0
    assert launch_cooperative(driver, 513) == TOO_LARGE
    assert launch_cooperative(driver, 1_000_000, 2000) == INVALID  # the shape is checked first


def test_multi_device_cooperative_launch_is_refused(driver: Driver) -> None:
    parameters = ctypes.create_string_buffer(256)
    assert driver.result("cuLaunchCooperativeKernelMultiDevice", parameters, 1, 0) == NOT_SUPPORTED
    assert driver.number("cuDeviceGetAttribute", 96, 0) == 0


def launch_configured(driver: Driver, *attributes: Attribute, grid: int = 4, function: Any = None) -> int:
    array = (Attribute * max(1, len(attributes)))(*attributes)
    config = Config((grid, 1, 1), (64, 1, 1), 0, None, array, len(attributes))
    function = driver.function(KERNELS, "plain") if function is None else function
    return driver.result("cuLaunchKernelEx", ctypes.byref(config), function, None, None)


# Result of an attribute with a value of zeros.
@pytest.mark.parametrize(
    ("number", "code"),
    [(0, 0), (1, 0), (2, 0), (3, INVALID), (4, 0), (5, 0), (6, 0), (7, HANDLE), (8, 0), (9, 0), (10, 0), (11, 0),
     (12, HANDLE), (13, NOT_SUPPORTED), (14, 0), (15, INVALID), (16, 0), (50, INVALID), (-1, INVALID),
     (1000, INVALID)],
)  # fmt: skip
def test_launch_attribute_ids_are_checked(driver: Driver, number: int, code: int) -> None:
    assert launch_configured(driver, Attribute(number)) == code


def test_performance_attributes_are_accepted(driver: Driver) -> None:
    for priority in (0, 1, -5, -6, -100):
        assert launch_configured(driver, Attribute(8, 0, (priority & 0xFFFFFFFF,))) == 0
    assert launch_configured(driver, Attribute(6, 0, (1,))) == 0  # programmatic stream serialization


def test_invalid_configuration_is_refused(driver: Driver) -> None:
    function = driver.function(KERNELS, "plain")
    assert driver.result("cuLaunchKernelEx", None, function, None, None) == INVALID
    config = Config((1, 1, 1), (1, 1, 1), 0, None, None, 1)
    assert driver.result("cuLaunchKernelEx", ctypes.byref(config), function, None, None) == INVALID


def allow_clusters(grid: int, cluster: tuple[int, int, int]) -> bool:
    if cluster == (0, 0, 0):
        return True
    x, y, z = cluster
    return min(cluster) > 0 and y == z == 1 and x <= 8 and grid % x == 0


@pytest.mark.parametrize(
    "cluster",
    [(1, 1, 1), (2, 1, 1), (8, 1, 1), (16, 1, 1), (32, 1, 1), (0, 1, 1), (1, 2, 1), (0, 0, 0)],
)
@pytest.mark.parametrize("grid", [1, 2, 3, 4, 8, 16, 32, 64])
def test_cluster_dimensions_are_checked(driver: Driver, grid: int, cluster: tuple[int, int, int]) -> None:
    expected = 0 if allow_clusters(grid, cluster) else CLUSTER
    assert launch_configured(driver, Attribute(4, 0, cluster), grid=grid) == expected


def test_nonportable_cluster_needs_attribute(driver: Driver) -> None:
    function = driver.function(KERNELS, "plain")
    sixteen = Attribute(4, 0, (16, 1, 1))
    assert launch_configured(driver, sixteen, grid=32, function=function) == CLUSTER
    driver("cuFuncSetAttribute", function, 14, 1)
    assert launch_configured(driver, sixteen, grid=32, function=function) == 0
    assert launch_configured(driver, Attribute(4, 0, (32, 1, 1)), grid=32, function=function) == CLUSTER


def test_preferred_cluster_dimension_is_checked(driver: Driver) -> None:
    assert launch_configured(driver, Attribute(11, 0, (1, 1, 1))) == CLUSTER  # no cluster dimension
    two, four, three = (Attribute(number, 0, (x, 1, 1)) for number, x in ((4, 2), (11, 4), (11, 3)))
    assert launch_configured(driver, two, four) == 0
    assert launch_configured(driver, two, three) == CLUSTER


def test_cooperative_cluster_launch_is_checked(driver: Driver) -> None:
    cooperation, pairs = Attribute(2, 0, (1,)), Attribute(4, 0, (2, 1, 1))
    assert launch_configured(driver, cooperation, pairs) == 0
    assert launch_configured(driver, cooperation, grid=1_000_000) == TOO_LARGE


CLUSTERS = f"""
from tests.sim.test_launch import Attribute, Config
start()
function = driver.function({KERNELS!r}, "plain")
def ask(call, size, block, shared):
    attributes = (Attribute * 1)(Attribute(4, 0, (size, 1, 1)))
    config = Config((size * 16, 1, 1), (block, 1, 1), shared, None, attributes, int(size > 0))
    out = ctypes.c_int(-7)
    code = driver.result(call, ctypes.byref(out), function, ctypes.byref(config))
    return code or out.value
for size, block, shared, _ in {H200["clusters"]}:
    answer(ask("cuOccupancyMaxActiveClusters", size, block, shared))
answer(ask("cuOccupancyMaxActiveClusters", 0, 64, 0))
answer(ask("cuOccupancyMaxPotentialClusterSize", 0, 64, 0))
driver("cuFuncSetAttribute", function, 14, 1)
answer(ask("cuOccupancyMaxPotentialClusterSize", 0, 64, 0))
"""


def test_cluster_occupancy_matches_h200(sim_path: Path) -> None:
    """Clusters of up to 4 blocks match the measurement. For 8 the estimate is at most 4 % too low."""
    *ours, none, portable, largest = isolated(sim_path, CLUSTERS, SIM_GPU="h200").answers
    for (size, _, _, real), estimate in zip(H200["clusters"], ours, strict=True):
        if size == 8:
            assert 0.96 * real <= estimate <= real
        else:
            assert estimate == real
    assert (none, portable, largest) == (0, 8, 16)


def test_clusters_before_capability_9_are_refused(sim_path: Path) -> None:
    answers = isolated(sim_path, CLUSTERS.replace("sm_90", "sm_80"), SIM_GPU="a100").answers
    assert {answers[i] for i in range(4)} == {0}  # a cluster of 1 is an ordinary block
    assert set(answers[4:24]) == {CLUSTER}
    assert answers[-2:] == [CLUSTER, CLUSTER]


def test_required_cluster_is_that_of_the_launch(driver: Driver) -> None:
    """nvcc writes these directives for __cluster_dims__. The other kernels of the image run in any case."""
    head = ".explicitcluster .reqnctapercluster {}, 1, 1 {{ .reg .b32 %r; {} ret; }}\n"
    text = (
        PTX_HEAD
        + ".visible .entry plain() { ret; }\n"
        + ".visible .entry one() " + head.format(1, "mov.u32 %r, %cluster_ctarank;")
        + ".visible .entry two() " + head.format(2, "mov.u32 %r, %cluster_ctarank;")
    )  # fmt: skip
    plain, one, two = (driver.function(text, name) for name in ("plain", "one", "two"))
    assert [launch_configured(driver, function=function) for function in (plain, one)] == [0, 0]
    assert launch_configured(driver, function=two) == NOT_SUPPORTED
    assert launch_configured(driver, grid=3, function=two) == CLUSTER
    assert launch_configured(driver, Attribute(4, 0, (2, 1, 1)), function=one) == CLUSTER
    width = ctypes.c_int()
    for function, expected in ((plain, 0), (one, 1), (two, 2)):
        driver("cuFuncGetAttribute", ctypes.byref(width), 11, function)
        assert width.value == expected
