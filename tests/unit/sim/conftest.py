"""The CPU driver called through ctypes, by its ABI alone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PTX_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

SAXPY = (
    PTX_HEAD
    + """
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
done:
    ret;
}
"""
)

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
        """What a call writes through its first parameter."""
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
def loaded(sim_path: Path, launch_log: Path) -> Driver:
    variables = {
        "SIM_LAUNCH_LOG": str(launch_log),
        "SIM_FAULT_SCOPE": "context",
        "SIM_MEMORY_CHECK": "exact",
    }
    os.environ.update(variables)  # read once, at cuInit
    driver = Driver(ctypes.CDLL(str(sim_path)))
    driver("cuInit", 0)
    for name in variables:
        del os.environ[name]
    return driver


@pytest.fixture
def driver(loaded: Driver) -> Iterator[Driver]:
    """The driver with a context of its own current, so that a sticky error stays in one test."""
    context = loaded.handle("cuCtxCreate_v4", None, 0, 0)
    yield loaded
    loaded("cuCtxDestroy_v2", context)
