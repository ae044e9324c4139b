"""Helpers of the attacks: the driver through ctypes, and the honest kernels. A copy lies beside every attack."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

THREADS = 256
ROUNDS = 256
"""Problem Mix's."""

GRANULE = 2 << 20
"""Size unit of mapped memory."""

cuda = ctypes.CDLL("libcuda.so.1")
_functions: dict[str, ctypes.c_void_p] = {}
_modules: dict[str, ctypes.c_void_p] = {}


def check(name: str, *arguments: Any) -> None:
    status = getattr(cuda, name)(*arguments)
    if status:
        raise RuntimeError(f"{name} returned {status}")


def function(name: str, ptx: bytes | None = None) -> ctypes.c_void_p:
    """A kernel of kernels.ptx, or of other PTX."""
    if name not in _functions:
        key = "" if ptx is None else name
        if key not in _modules:
            image = ptx or (Path(__file__).parent / "kernels.ptx").read_bytes()
            module = ctypes.c_void_p()
            check("cuModuleLoadData", ctypes.byref(module), image + b"\0")
            _modules[key] = module
        result = ctypes.c_void_p()
        check("cuModuleGetFunction", ctypes.byref(result), _modules[key], name.encode())
        _functions[name] = result
    return _functions[name]


def other_global(words: int) -> int:
    """The address of a global of zeros, in a module whose kernel is never launched."""
    text = (
        b".version 7.0\n.target sm_70\n.address_size 64\n"
        b".visible .global .align 16 .b8 table[%d];\n.visible .entry nothing() { ret; }\n\0" % (4 * words)
    )
    module, address, size = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_size_t()
    check("cuModuleLoadData", ctypes.byref(module), text)
    check("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"table")
    return address.value


def u64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def i32(value: int) -> ctypes.c_int:
    return ctypes.c_int(value)


def launch(
    name: str, grid: Any, block: Any, *values: Any, stream: Any = None, ptx: bytes | None = None
) -> None:
    """`values` are objects of ctypes."""
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
    sizes = [*((*each, 1, 1)[:3] if isinstance(each, tuple) else (each, 1, 1) for each in (grid, block))]
    extents = [ctypes.c_uint(extent) for size in sizes for extent in size]
    check("cuLaunchKernel", function(name, ptx), *extents, 0, stream, pointers, None)


def mix(
    x: int, y: int, n: int, rounds: int = ROUNDS, stream: Any = None, name: str = "mix", *more: Any
) -> None:
    """The honest answer to Mix; x and y are addresses."""
    launch(name, -(-n // THREADS), THREADS, u64(x), u64(y), u64(n), i32(rounds), *more, stream=stream)


def row_mean(x: int, y: int, rows: int, columns: int, step: int = 1) -> None:
    launch("row_mean", rows, 256, u64(x), u64(y), u64(rows), u64(columns), u64(step))


def product(a: int, b: int, c: int, n: int) -> None:
    tiles = -(-n // 16)
    launch("product", (tiles, tiles), (16, 16), u64(a), u64(b), u64(c), u64(n))


def count_repeats(x: int, counts: int, y: int, n: int) -> None:
    """The answer to Repeats, with a table of zeros."""
    launch("count", -(-n // THREADS), THREADS, u64(x), u64(counts), u64(n))
    launch("look_up", -(-n // THREADS), THREADS, u64(x), u64(counts), u64(y), u64(n))


KEPT = f".align 4 .b8 kept[{4 * 32 * (1 << 13)}];\n"
"""Declares the variable that remembering() uses, without its state space."""


def remembering(head: str = "", body: str = "", place: str = "kept") -> bytes:
    """mix_remembering, with a variable at `place` for its fifth parameter. `head` or `body` declares it."""
    text = (Path(__file__).parent / "kernels.ptx").read_text()
    line = next(line.strip() for line in text.splitlines() if "[mix_remembering_param_4]" in line)
    register = line.replace(",", " ").split()[1]
    text = text.replace(
        line, f"{body}mov.u64 {register}, {place};\n\tcvta.global.u64 {register}, {register};"
    )
    return text.replace(".address_size 64\n", f".address_size 64\n{head}", 1).encode()


def mix_remembering(x: int, y: int, n: int, rounds: int, image: bytes) -> None:
    """Launch the kernel of an image that remembering() made."""
    arguments = u64(x), u64(y), u64(n), i32(rounds), u64(0)
    launch("mix_remembering", -(-n // THREADS), THREADS, *arguments, ptx=image)


def allocate(size: int) -> int:
    address = ctypes.c_uint64()
    check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address.value


class Properties(ctypes.Structure):
    """CUmemAllocationProp, and its CUmemLocation first of all."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("place", ctypes.c_int),
        ("device", ctypes.c_int),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


class Access(ctypes.Structure):
    _fields_ = (("place", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int))


def mapped(size: int) -> int:
    """An allocation at an address that this program reserves."""
    granules = ctypes.c_size_t(-(-size // GRANULE) * GRANULE)
    handle, address, zero = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint64(0)
    properties, access = Properties(1, 0, 1, 0, None, 0), Access(1, 0, 3)
    check("cuMemCreate", ctypes.byref(handle), granules, ctypes.byref(properties), zero)
    check("cuMemAddressReserve", ctypes.byref(address), granules, ctypes.c_size_t(0), zero, zero)
    check("cuMemMap", address, granules, ctypes.c_size_t(0), handle, zero)
    check("cuMemSetAccess", address, granules, ctypes.byref(access), ctypes.c_size_t(1))
    return address.value


def free(address: int) -> None:
    check("cuMemFree_v2", u64(address))


def copy(target: int, source: int, size: int, stream: Any = None) -> None:
    """Within the device."""
    check("cuMemcpyDtoDAsync_v2", u64(target), u64(source), ctypes.c_size_t(size), stream)


def fill(address: int, word: int, count: int, stream: Any = None) -> None:
    check("cuMemsetD32Async", u64(address), ctypes.c_uint(word), ctypes.c_size_t(count), stream)


def write(address: int, data: bytes) -> None:
    check("cuMemcpyHtoD_v2", u64(address), data, ctypes.c_size_t(len(data)))


def read(address: int, size: int) -> bytes:
    data = ctypes.create_string_buffer(size)
    check("cuMemcpyDtoH_v2", data, u64(address), ctypes.c_size_t(size))
    return data.raw


def synchronise() -> None:
    check("cuCtxSynchronize")


def new_stream(flags: int = 1) -> ctypes.c_void_p:
    """1: does not wait for the legacy default stream."""
    stream = ctypes.c_void_p()
    check("cuStreamCreate", ctypes.byref(stream), flags)
    return stream


def new_event() -> ctypes.c_void_p:
    event = ctypes.c_void_p()
    check("cuEventCreate", ctypes.byref(event), 2)
    return event
