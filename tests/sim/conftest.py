"""The CPU driver called through ctypes, by its ABI alone."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels import PTX_HEAD, SAXPY  # noqa: F401 - SAXPY is for the tests of this folder

STORE = (
    PTX_HEAD
    + """
.visible .global .align 4 .u32 counter = 7;
.visible .entry store(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry nothing()
{
    ret;
}
"""
)


class DriverError(Exception):
    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returned {code}")
        self.code = code


@dataclass(frozen=True)
class Driver:
    library: ctypes.CDLL

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call an export. Raises DriverError for any result but CUDA_SUCCESS."""
        code = self.result(name, *arguments)
        if code != 0:
            raise DriverError(name, code)

    def result(self, name: str, *arguments: Any) -> int:
        return int(getattr(self.library, name)(*arguments))

    def handle(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        """Return the value that a call writes through its first parameter."""
        value = ctypes.c_void_p()
        self(name, ctypes.byref(value), *arguments)
        return value

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> Any:
        value = kind()
        self(name, ctypes.byref(value), *arguments)
        return value.value

    def allocate(self, size: int) -> ctypes.c_uint64:
        return ctypes.c_uint64(self.number("cuMemAlloc_v2", ctypes.c_size_t(size), kind=ctypes.c_uint64))

    def read(self, address: ctypes.c_uint64, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", buffer, address, ctypes.c_size_t(size))
        return buffer.raw

    def write(self, address: ctypes.c_uint64, data: bytes) -> None:
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))

    def function(self, text: str, name: str) -> ctypes.c_void_p:
        module = self.handle("cuModuleLoadData", text.encode())
        return self.handle("cuModuleGetFunction", module, name.encode())

    def launch(
        self, function: Any, arguments: list[Any], grid: int = 1, block: int = 1, stream: Any = None
    ) -> int:
        pointers = (ctypes.c_void_p * max(1, len(arguments)))(
            *(ctypes.cast(ctypes.byref(argument), ctypes.c_void_p) for argument in arguments)
        )
        return self.result("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, stream, pointers, None)


@pytest.fixture(scope="session")
def sim_path(native: Path) -> Path:
    return native / "sim" / "libcuda.so.1"


@pytest.fixture(scope="session")
def launch_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sim") / "launches"


@pytest.fixture(scope="session")
def loaded(sim_path: Path, launch_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Load a copy of the driver: another test may have loaded the built one with other settings."""
    variables = {
        "SIM_LAUNCH_LOG": str(launch_log),
        "SIM_FAULT_SCOPE": "context",
        "SIM_MEMORY_CHECK": "exact",
    }
    os.environ.update(variables)  # read once, at cuInit
    copy = shutil.copy(sim_path, tmp_path_factory.mktemp("driver") / sim_path.name)
    driver = Driver(ctypes.CDLL(str(copy)))
    driver("cuInit", 0)
    for name in variables:
        del os.environ[name]
    return driver


@pytest.fixture
def driver(loaded: Driver) -> Iterator[Driver]:
    """The driver with a new current context, so that a sticky error stays in one test."""
    context = loaded.handle("cuCtxCreate_v4", None, 0, 0)
    yield loaded
    loaded("cuCtxDestroy_v2", context)
