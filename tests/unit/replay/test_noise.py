"""The noise in outputs and new memory is Philox4x32-10, whole at every alignment, and ends where it should."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from tests.conftest import ROOT

KEY, SEED = 0x0123456789ABCDEF, 0xFEEDBEEF
WORD = (1 << 32) - 1


def philox(counter: tuple[int, int, int, int], key: int) -> list[int]:
    """Four words, as Salmon et al. (SC 2011) define them."""
    c, k = list(counter), [key & WORD, key >> 32]
    for _ in range(10):
        one, two = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [two >> 32 ^ c[1] ^ k[0], two & WORD, one >> 32 ^ c[3] ^ k[1], one & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return c


def test_reference_gives_the_published_numbers() -> None:
    """Random123's known answers."""
    assert philox((0, 0, 0, 0), 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox((WORD,) * 4, (1 << 64) - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize(("offset", "count"), [(0, 1 << 16), (0, 1023), (4, 1021), (8, 7), (12, 1)])
def test_noise_is_philox_of_the_key_and_the_address(native: Path, offset: int, count: int) -> None:
    driver = ctypes.CDLL(str(native / "sim" / "libcuda.so.1"))
    context, module, kernel, memory = (ctypes.c_void_p() for _ in range(4))
    text = (ROOT / "engine" / "replay" / "sample" / "kernels.ptx").read_bytes() + b"\0"
    size = ctypes.c_size_t(4 * count + 64)
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    assert driver.cuModuleLoadData(ctypes.byref(module), text) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"nb_noise") == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(memory), size) == 0
    assert driver.cuMemsetD8_v2(memory, 0, size) == 0
    to = ctypes.c_uint64((memory.value or 0) + offset)
    values = to, ctypes.c_uint64(count), ctypes.c_uint64(KEY), ctypes.c_uint32(SEED)
    places = (ctypes.c_void_p * 4)(*[ctypes.addressof(each) for each in values])
    assert driver.cuLaunchKernel(kernel, 3, 1, 1, 64, 1, 1, 0, None, places, None) == 0
    found = (ctypes.c_uint32 * (count + 4))()
    assert driver.cuMemcpyDtoH_v2(found, to, ctypes.c_size_t(ctypes.sizeof(found))) == 0
    assert driver.cuMemFree_v2(memory) == 0
    expected: list[int] = []
    while len(expected) < count:
        at = to.value + 4 * len(expected)
        expected += [each | 1 for each in philox((at & WORD, at >> 32, SEED, 0), KEY)]
    assert list(found) == [*expected[:count], 0, 0, 0, 0]
