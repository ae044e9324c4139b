"""The driver before any work: exports, entry points, the device, error names."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.conftest import DATA

from .conftest import Driver

SUFFICIENT, NOT_FOUND, TOO_OLD = 0, 1, 2


def look_up(driver: Driver, name: str, version: int, flags: int = 0) -> tuple[int | None, int]:
    address, status = ctypes.c_void_p(), ctypes.c_int(-1)
    arguments = (ctypes.byref(address), version, ctypes.c_uint64(flags), ctypes.byref(status))
    driver("cuGetProcAddress_v2", name.encode(), *arguments)
    return address.value, status.value


def address_of(driver: Driver, name: str) -> int | None:
    return ctypes.cast(getattr(driver.library, name), ctypes.c_void_p).value


def test_export_addresses_are_unique(sim_path: Path) -> None:
    with sim_path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        exports = [symbol for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"]
    assert len(exports) > 600
    assert len({symbol["st_value"] for symbol in exports}) == len(exports)
    assert all(symbol.name.startswith("cu") for symbol in exports if symbol.name != "simInject")


def test_exports_include_every_driver_export(sim_path: Path) -> None:
    """Compares with driver 580.159.04 (CUDA 13.0), including exports that cuda.h does not declare."""
    with sim_path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        ours = {symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"}
    words = (DATA / "libcuda-580.159.04-exports.txt").read_text().split()
    theirs = {word.partition("@")[0] for word in words if re.match(r"cu[A-Z]", word)}
    assert len(theirs) > 650
    assert theirs - ours == set()


def test_profiler_control_is_accepted(driver: Driver) -> None:
    for name in ("cuProfilerStart", "cuProfilerStop"):
        driver(name)
        assert look_up(driver, name, 13000) == (address_of(driver, name), SUFFICIENT)


@pytest.mark.parametrize(
    ("name", "version", "flags", "symbol"),
    [
        ("cuMemAlloc", 12000, 0, "cuMemAlloc_v2"),
        ("cuMemAlloc", 2000, 0, "cuMemAlloc"),
        ("cuCtxCreate", 12000, 0, "cuCtxCreate_v3"),
        ("cuCtxCreate", 13000, 0, "cuCtxCreate_v4"),
        ("cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz"),
        ("cuLaunchKernel", 12000, 1, "cuLaunchKernel"),
        ("cuInit", 12000, 2, "cuInit"),
        ("cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds"),
        ("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"),
    ],
)
def test_entry_point_is_newest_variant_up_to_version(
    loaded: Driver, name: str, version: int, flags: int, symbol: str
) -> None:
    assert look_up(loaded, name, version, flags) == (address_of(loaded, symbol), SUFFICIENT)


def test_unknown_or_newer_entry_point_returns_null(loaded: Driver) -> None:
    assert look_up(loaded, "", 0) == (None, NOT_FOUND)
    assert look_up(loaded, "cuNoSuchCall", 13000) == (None, NOT_FOUND)
    assert look_up(loaded, "cuLaunchKernelEx", 11000) == (None, TOO_OLD)
    address = ctypes.c_void_p()
    assert (
        loaded.result(
            "cuGetProcAddress_v2", b"cuInit", ctypes.byref(address), 12000, ctypes.c_uint64(0), None
        )
        == 0
    )
    assert address.value == address_of(loaded, "cuInit")


def test_unknown_export_table_is_refused(loaded: Driver) -> None:
    table = ctypes.c_void_p(1)
    assert loaded.result("cuGetExportTable", ctypes.byref(table), bytes(16)) == 500
    assert table.value is None


def test_every_result_has_a_name_and_a_text(loaded: Driver) -> None:
    text = ctypes.c_char_p()
    for code, name in (
        (0, b"CUDA_SUCCESS"),
        (700, b"CUDA_ERROR_ILLEGAL_ADDRESS"),
        (999, b"CUDA_ERROR_UNKNOWN"),
    ):
        loaded("cuGetErrorName", code, ctypes.byref(text))
        assert text.value == name
        loaded("cuGetErrorString", code, ctypes.byref(text))
        assert text.value
    assert loaded.result("cuGetErrorName", 12345, ctypes.byref(text)) == 1
    assert text.value is None


def test_device_attributes_are_plausible(loaded: Driver) -> None:
    assert loaded.number("cuDeviceGetCount") == 1
    assert loaded.number("cuDeviceGet", 0) == 0
    device = ctypes.c_int()
    assert loaded.result("cuDeviceGet", ctypes.byref(device), 1) == 101
    attributes = {1: 1024, 10: 32, 75: 9, 76: 0, 41: 1, 115: 1, 102: 1}
    assert {id_: loaded.number("cuDeviceGetAttribute", id_, 0) for id_ in attributes} == attributes
    assert loaded.number("cuDeviceTotalMem_v2", 0, kind=ctypes.c_size_t) == 8 << 30


def run(sim_path: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    prelude = f"import ctypes, os; driver = ctypes.CDLL({str(sim_path)!r})\n"
    command = [sys.executable, "-c", prelude + code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_call_before_init_returns_not_initialized(sim_path: Path) -> None:
    calls = "driver.cuDeviceGetCount(ctypes.byref(n)), driver.cuCtxSynchronize()"
    result = run(sim_path, f"n = ctypes.c_int()\nprint({calls})")
    assert result.stdout.split() == ["3", "3"]


def test_driver_version_can_be_set(sim_path: Path) -> None:
    code = "n = ctypes.c_int(); driver.cuDriverGetVersion(ctypes.byref(n)); print(n.value)"
    assert run(sim_path, code, SIM_DRIVER_VERSION="12040").stdout.strip() == "12040"
    assert int(run(sim_path, code).stdout) >= 12000


def test_unsupported_call_is_reported_once(sim_path: Path) -> None:
    call = "driver.cuTexRefCreate(None)"
    result = run(sim_path, f"driver.cuInit(0)\nprint({call}, {call})")
    assert result.stdout.split() == ["801", "801"]
    assert result.stderr == "CPU driver: cuTexRefCreate is not supported\n"
