"""The model that SIM_GPU selects: names, attributes, occupancy, accepted PTX.

tests/data/h200.json has the answers of an NVIDIA H200 (driver 580.159.04)."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import PTX_HEAD, Driver, DriverError
from .isolated import isolated

H200: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "h200.json").read_text())
MODELS = {
    "small": ("Neutrino CPU sm_90", 90, 16),
    "t4": ("Tesla T4", 75, 40),
    "a100": ("NVIDIA A100-SXM4-40GB", 80, 108),
    "l4": ("NVIDIA L4", 89, 58),
    "rtx4090": ("NVIDIA GeForce RTX 4090", 89, 128),
    "h100": ("NVIDIA H100 80GB HBM3", 90, 132),
    "h200": ("NVIDIA H200", 90, 132),
    "b200": ("NVIDIA B200", 100, 148),
    "rtx5090": ("NVIDIA GeForce RTX 5090", 120, 170),
}
# Features in which this driver differs from an H200, and values that depend on the machine.
OWN = {33, 34, 86, 96, 98, 101, 103, 107, 110, 112, 113, 114, 116, 117, 118, 119, 121, 124, 125, 127, 128, 129,
       134, 140, 141, 142, 144, 145, 44}  # fmt: skip

DESCRIBE = """
start()
name = ctypes.create_string_buffer(64)
driver("cuDeviceGetName", name, 64, 0)
major, minor = ctypes.c_int(), ctypes.c_int()
driver("cuDeviceComputeCapability", ctypes.byref(major), ctypes.byref(minor), 0)
count = {count}
attributes = [driver.number("cuDeviceGetAttribute", i, 0) for i in range(1, count)]
total = driver.number("cuDeviceTotalMem_v2", 0, kind=ctypes.c_size_t)
uuid = ctypes.create_string_buffer(16)
driver("cuDeviceGetUuid_v2", uuid, 0)
properties = (ctypes.c_int * 14)()
driver("cuDeviceGetProperties", properties, 0)
answer((name.value.decode(), major.value * 10 + minor.value, attributes, total, uuid.raw.hex(), list(properties)))
"""


@pytest.fixture(scope="module")
def described(sim_path: Path) -> dict[str, list[Any]]:
    code = DESCRIBE.format(count=148)
    return {key: isolated(sim_path, code, SIM_GPU=key).answers[0] for key in MODELS}


@pytest.mark.parametrize("key", MODELS)
def test_model_description_is_consistent(described: dict[str, list[Any]], key: str) -> None:
    name, target, attributes, total, _, properties = described[key]
    multiprocessors = attributes[15]
    assert (name, target, multiprocessors) == MODELS[key]
    assert attributes[74] * 10 + attributes[75] == target
    by_attribute = [attributes[i - 1] for i in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)]
    assert properties == by_attribute
    reserved, optin, whole = attributes[110], attributes[96], attributes[80]
    assert optin + reserved <= whole
    assert attributes[38] % 32 == 0
    assert attributes[119] == int(target >= 90)
    assert total >= 8 << 30


def test_uuids_of_models_differ(described: dict[str, list[Any]]) -> None:
    assert len({answers[4] for answers in described.values()}) == len(MODELS)


def test_h200_model_matches_h200(described: dict[str, list[Any]]) -> None:
    ours = {i + 1: value for i, value in enumerate(described["h200"][2])}
    real = {int(i): value for i, value in H200["attributes"].items()}
    assert {i: ours[i] for i in real if i not in OWN} == {i: real[i] for i in real if i not in OWN}
    assert described["h200"][3] == H200["total_memory"]


def test_memory_size_can_be_reduced(sim_path: Path) -> None:
    code = "start()\nanswer(driver.number('cuDeviceTotalMem_v2', 0, kind=ctypes.c_size_t))"
    assert isolated(sim_path, code, SIM_GPU="b200", SIM_MEMORY_BYTES="1048576").answers == [1 << 20]


def test_unknown_model_fails_init_and_lists_models(sim_path: Path) -> None:
    code = "n = ctypes.c_int()\nanswer([driver.result('cuInit', 0), driver.result('cuDeviceGetCount', n)])"
    outcome = isolated(sim_path, code, SIM_GPU="h900")
    assert outcome.answers == [[101, 3]]
    assert outcome.errors == (
        "CPU driver: SIM_GPU=h900: unknown model; use one of: " + " ".join(MODELS) + "\n"
    )


def test_unknown_attribute_is_refused(loaded: Driver) -> None:
    for number in (0, -1, 100_000):
        with pytest.raises(DriverError, match=r"returned 1$"):
            loaded.number("cuDeviceGetAttribute", number, 0)
    with pytest.raises(DriverError, match=r"returned 101$"):
        loaded.number("cuDeviceGetAttribute", 1, 7)


KERNELS = (
    PTX_HEAD
    + ".visible .entry n() { ret; }\n"
    + ".visible .entry m() .maxntid 128, 1, 1 { ret; }\n"
    + ".visible .entry q() .reqntid 64, 1, 1 { ret; }\n"
    + ".visible .entry s40() { .shared .b8 s[40000]; .reg .b32 %r; mov.u32 %r, s; "
    + "st.volatile.shared.u32 [%r], 1; ret; }\n"
    + ".visible .entry big() .maxntid 512, 1, 1 { .reg .b32 %r<200>; ret; }\n"
)
OCCUPANCY = f"""
start()
module = driver.handle("cuModuleLoadData", {KERNELS!r}.encode())
def ask(call, function, *arguments, kind=ctypes.c_int):
    out = kind(-7)
    code = driver.result(call, ctypes.byref(out), function, *arguments)
    return out.value if code == 0 else -code
for name in "n", "m", "q", "s40", "big":
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    attributes = [driver.number("cuFuncGetAttribute", i, function) for i in range(10)]
    driver("cuFuncSetAttribute", function, 8, 192448 if name == "s40" else 232448)
    blocks = {{str(size): [ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, size, ctypes.c_size_t(d))
        for d in {H200["dynamic_bytes"]}] for size in {[int(s) for s in H200["occupancy"]["n"]["blocks"]]}}}
    available = [[count, size, ask("cuOccupancyAvailableDynamicSMemPerBlock", function, count, size,
        kind=ctypes.c_size_t)] for count, size, _ in {H200["occupancy"]["n"]["available"]}]
    best = []
    for shared, limit, _, _ in {H200["occupancy"]["n"]["best"]}:
        grid, size = ctypes.c_int(), ctypes.c_int()
        driver("cuOccupancyMaxPotentialBlockSize", ctypes.byref(grid), ctypes.byref(size), function, None,
               ctypes.c_size_t(shared), limit)
        best.append([shared, limit, grid.value, size.value])
    answer([name, dict(attributes=attributes, blocks=blocks, available=available, best=best)])
"""


def test_occupancy_of_h200_model_matches_h200(sim_path: Path) -> None:
    outcome = isolated(sim_path, OCCUPANCY, SIM_GPU="h200")
    assert [name for name, _ in outcome.answers] == ["n", "m", "q", "s40", "big"]
    for name, ours in outcome.answers:
        real = H200["occupancy"][name]
        assert ours["blocks"] == real["blocks"], name
        assert ours["available"] == real["available"], name
        assert ours["best"] == real["best"], name
        if name != "big":  # for other kernels the compiler chooses the registers
            ours["attributes"][4] = real["attributes"][4]
            ours["attributes"][5] = real["attributes"][5]
            assert ours["attributes"] == real["attributes"][:10], name
        else:
            assert ours["attributes"][4] == 128


def query_occupancy(sim_path: Path, gpu: str, size: int, shared: int) -> int:
    code = f"""
start()
module = driver.handle("cuModuleLoadData", {KERNELS.replace("sm_90", "sm_75")!r}.encode())
function = driver.handle("cuModuleGetFunction", module, b"n")
limit = driver.number("cuDeviceGetAttribute", 97, 0)
driver("cuFuncSetAttribute", function, 8, limit)
call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
answer(driver.number(call, function, {size}, ctypes.c_size_t({shared})))
"""
    return int(isolated(sim_path, code, SIM_GPU=gpu).answers[0])


@pytest.mark.parametrize(
    ("gpu", "size", "shared", "blocks"),
    [
        ("t4", 64, 0, 16),  # 16 blocks
        ("t4", 64, 20000, 3),  # 20224 in units of 256, none reserved
        ("a100", 256, 0, 8),  # 2048 threads
        ("a100", 64, 40000, 4),  # 41088 of 164 KiB
        ("l4", 1024, 0, 1),  # 1536 threads
        ("l4", 32, 0, 24),  # 24 blocks
        ("l4", 64, 32768, 3),  # 33792 of 100 KiB
        ("b200", 64, 100000, 2),
        ("rtx5090", 256, 0, 6),
    ],
)
def test_occupancy_matches_model_limits(
    sim_path: Path, gpu: str, size: int, shared: int, blocks: int
) -> None:
    """Computed by hand from the guide's table of compute capabilities."""
    assert query_occupancy(sim_path, gpu, size, shared) == blocks


def load(sim_path: Path, gpu: str, version: str, target: str, **environment: str) -> tuple[int, str]:
    text = f"// c\n/* .target sm_20 */ .version {version}\n.target {target}\n.address_size 64\n"
    code = f"""
start()
log = ctypes.create_string_buffer(400)
options = (ctypes.c_int * 2)(5, 6)
values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 400)
text = {text + ".visible .entry n() { ret; }"!r}.encode()
module = ctypes.c_void_p()
answer([driver.result("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values), log.value.decode()])
answer(driver.result("cuLibraryLoadData", ctypes.byref(module), text, None, None, 0, None, None, 0))
"""
    outcome = isolated(sim_path, code, SIM_GPU=gpu, **environment)
    assert outcome.answers[0][0] == outcome.answers[1]
    result, log = outcome.answers[0]
    return result, log


@pytest.mark.parametrize(
    ("gpu", "version", "target", "result"),
    [
        ("h200", "8.0", "sm_52", 0),
        ("h200", "8.0", "sm_90a", 0),
        ("h200", "8.8", "sm_100", 218),
        ("h200", "8.0", "sm_100", 218),
        ("h200", "8.8", "sm_100a", 218),
        ("h200", "8.0", "sm_99", 218),
        ("h200", "7.0", "sm_89", 218),
        ("h200", "7.0", "sm_20", 0),
        ("h200", "9.9", "sm_90", 222),
        ("b200", "8.8", "sm_100", 0),
        ("b200", "8.8", "sm_100f", 0),
        ("b200", "8.0", "sm_90a", 218),
        ("rtx5090", "8.8", "sm_100f", 218),
        ("a100", "8.0", "sm_90", 218),
    ],
)
def test_ptx_for_newer_or_other_device_is_refused(
    sim_path: Path, gpu: str, version: str, target: str, result: int
) -> None:
    """The first nine results are those of an H200, the others those of ptxas for that device."""
    code, log = load(sim_path, gpu, version, target)
    assert code == result
    assert (log == "") == (code == 0)


def test_ptx_newer_than_the_driver_is_refused(sim_path: Path) -> None:
    assert load(sim_path, "small", "8.8", "sm_80", SIM_DRIVER_VERSION="12040")[0] == 222
    assert load(sim_path, "small", "8.4", "sm_80", SIM_DRIVER_VERSION="12040")[0] == 0


def test_error_texts_match_driver(loaded: Driver) -> None:
    text = ctypes.c_char_p()
    for code, words in H200["errors"].items():
        loaded("cuGetErrorString", int(code), ctypes.byref(text))
        assert text.value is not None
        assert text.value.decode() == words
