"""The HIP face of the CPU driver called through ctypes, by its ABI alone."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import nvrtc
from tests.sim.conftest import STORE
from tests.support.code_objects import code_object

INVALID_VALUE, NOT_READY, NOT_FOUND, NOT_SUPPORTED = 1, 600, 500, 801
NO_BINARY, INVALID_IMAGE, INVALID_DEVICE_FUNCTION = 209, 200, 98
PER_THREAD = ctypes.c_void_p(2)


class HipError(Exception):
    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returned {code}")
        self.code = code


class Dim3(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


@dataclass(frozen=True)
class Hip:
    library: ctypes.CDLL
    path: Path

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call an export. Raises HipError for any result but hipSuccess."""
        code = self.result(name, *arguments)
        if code != 0:
            raise HipError(name, code)

    def result(self, name: str, *arguments: Any) -> int:
        return int(getattr(self.library, name)(*arguments))

    def handle(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        """The value that a call writes through its first parameter."""
        value = ctypes.c_void_p()
        self(name, ctypes.byref(value), *arguments)
        return value

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> Any:
        value = kind()
        self(name, ctypes.byref(value), *arguments)
        return value.value

    def asked(self, name: str, subject: Any, kind: Any = ctypes.c_int) -> Any:
        """The value that a call writes through its second parameter."""
        value = kind()
        self(name, subject, ctypes.byref(value))
        return value.value

    def allocate(self, size: int) -> ctypes.c_void_p:
        return self.handle("hipMalloc", ctypes.c_size_t(size))

    def words(self, address: Any, count: int) -> list[int]:
        """Once all work is done."""
        self("hipDeviceSynchronize")
        buffer = (ctypes.c_uint32 * count)()
        self("hipMemcpy", buffer, address, ctypes.c_size_t(4 * count), 2)
        return list(buffer)

    def zeroed(self, count: int) -> ctypes.c_void_p:
        """Device memory of `count` words. A fill does not wait for itself, nor do other streams for it."""
        memory = self.allocate(4 * count)
        self("hipMemset", memory, 0, ctypes.c_size_t(4 * count))
        self("hipStreamSynchronize", None)
        return memory

    def function(self, image: bytes, name: str) -> ctypes.c_void_p:
        module = self.handle("hipModuleLoadData", image)
        return self.handle("hipModuleGetFunction", module, name.encode())

    def launch(
        self, function: Any, arguments: Sequence[Any], grid: int = 1, block: int = 1, stream: Any = None
    ) -> int:
        return self.result(
            "hipModuleLaunchKernel",
            function,
            grid,
            1,
            1,
            block,
            1,
            1,
            0,
            stream,
            pointers_to(arguments),
            None,
        )


def pointers_to(arguments: Sequence[Any]) -> Any:
    """`kernelParams`."""
    return (ctypes.c_void_p * max(1, len(arguments)))(
        *(ctypes.cast(ctypes.byref(argument), ctypes.c_void_p) for argument in arguments)
    )


@pytest.fixture(scope="session")
def hip_path(native: Path) -> Path:
    path = native / "hip" / "libamdhip64.so.5"
    if not path.is_file():
        pytest.skip(
            "native/ was built without HIP's headers: apt-get install libamdhip64-dev, python build.py build"
        )
    return path


@pytest.fixture(scope="session")
def hip(hip_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Hip:
    """A copy of the library: another test may have loaded the built one without these settings."""
    variables = {"SIM_MEMORY_CHECK": "exact"}
    if (result := nvrtc.library()) is not None:
        variables["NEUTRINO_NVRTC"] = str(result._name)
    os.environ.update(variables)  # read once
    copy = Path(shutil.copy(hip_path, tmp_path_factory.mktemp("hip") / hip_path.name))
    face = Hip(ctypes.CDLL(str(copy)), copy)
    face("hipInit", 0)
    face.result("hiprtcCreateProgram", ctypes.byref(ctypes.c_void_p()), b"", b"", 0, None, None)
    for name in variables:
        del os.environ[name]
    return face


@pytest.fixture(scope="session")
def store(hip: Hip) -> ctypes.c_void_p:
    """store(to, value), of a code object."""
    return hip.function(code_object(STORE), "store")


@pytest.fixture
def stream(hip: Hip) -> Iterator[ctypes.c_void_p]:
    """Ended with the test, and with it what it captures."""
    handle = hip.handle("hipStreamCreate")
    yield handle
    hip.result("hipStreamEndCapture", handle, ctypes.byref(ctypes.c_void_p()))
    hip("hipStreamDestroy", handle)
