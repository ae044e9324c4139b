"""The PTX engine through ctypes, with numpy arrays as memory."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "sim" / "ptx"
STATUS = [
    "ok", "illegal address", "misaligned", "trap", "assert", "timeout", "invalid pc", "illegal instruction",
    "out of resources", "cancelled", "deadlock",
]  # fmt: skip


class PtxError(Exception):
    """A refused module; the message is the engine's diagnostic."""


def build(folder: Path, *flags: str) -> Path:
    """Compile the engine and its wrapper to a shared library."""
    library = folder / "engine.so"
    sources = [HERE / "programs" / "engine.c", *sorted(SOURCES.glob("*.c"))]
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-ffp-contract=off", "-shared"]
    command += ["-Wl,-Bsymbolic", *flags]
    subprocess.run(
        [*command, f"-I{SOURCES.parent}", *map(str, sources), "-o", library, "-lm", "-pthread"], check=True
    )
    return library


@dataclass(frozen=True)
class Outcome:
    """The status of a launch by name, and the engine's diagnostic."""

    status: str
    why: str


class Engine:
    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        self.library.engine_load.restype = ctypes.c_void_p
        self.library.engine_parameter.restype = ctypes.c_size_t
        self.library.engine_parameter_bytes.restype = ctypes.c_size_t

    def load(self, text: str | bytes) -> Module:
        data = text.encode() if isinstance(text, str) else text
        why = ctypes.create_string_buffer(512)
        handle = self.library.engine_load(data, ctypes.c_size_t(len(data)), why, ctypes.c_size_t(512))
        if not handle:
            raise PtxError(why.value.decode())
        return Module(self, handle)


class Module:
    def __init__(self, engine: Engine, handle: int) -> None:
        self._library, self._handle = engine.library, ctypes.c_void_p(handle)

    def layout(self, name: str) -> list[tuple[int, int]]:
        """Offset and size of each parameter."""
        result: list[tuple[int, int]] = []
        while True:
            offset = ctypes.c_size_t()
            size = self._library.engine_parameter(
                self._handle, name.encode(), ctypes.c_size_t(len(result)), ctypes.byref(offset)
            )
            if not size:
                return result
            result.append((offset.value, size))

    def run(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        *arguments: npt.NDArray[Any] | np.generic | bytes,
        shared: int = 0,
        timeout: float = 0,
        workers: int = 0,
    ) -> Outcome:
        """Launch a kernel. Arrays are passed by address and are accessible; numpy scalars and bytes are passed by
        value."""
        layout = self.layout(name)
        assert len(layout) == len(arguments), (layout, arguments)
        size = self._library.engine_parameter_bytes(self._handle, name.encode())
        parameters = bytearray(max(size, 1))
        ranges: list[int] = []
        for (offset, length), argument in zip(layout, arguments, strict=True):
            if isinstance(argument, np.ndarray):
                value = int(argument.ctypes.data).to_bytes(8, "little")
                ranges += [argument.ctypes.data, argument.ctypes.data + argument.nbytes]
            else:
                value = argument if isinstance(argument, bytes) else argument.tobytes()
            assert len(value) == length, (name, offset, length, value)
            parameters[offset : offset + length] = value
        shape = (ctypes.c_uint32 * 6)(*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3])
        why = ctypes.create_string_buffer(512)
        status = self._library.engine_run(
            self._handle, name.encode(), shape, ctypes.c_uint32(shared), bytes(parameters),
            (ctypes.c_uint64 * len(ranges))(*ranges), ctypes.c_size_t(len(ranges) // 2),
            ctypes.c_uint64(int(timeout * 1e9)), ctypes.c_uint(workers), why, ctypes.c_size_t(512),
        )  # fmt: skip
        return Outcome(STATUS[status], why.value.decode())
