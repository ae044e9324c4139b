"""The noise in outputs, new and shared memory is Philox4x32-10, whole at every alignment, and ends where it should."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from tests.conftest import ROOT

KEY, SEED = 0x0123456789ABCDEF, 0xFEEDBEEF
WORD = (1 << 32) - 1
KERNELS = ROOT / "engine" / "replay" / "sample" / "kernels.ptx"

WRITE_OUT = """
{
    .reg .b32 %u<9>;
    .reg .b64 %ud<4>;
    ld.param.u64 %ud1, [to];
    mov.u32 %u1, %tid.x;
    mov.u32 %u2, %ntid.x;
    mov.u32 %u3, %ctaid.x;
    mad.lo.u32 %u2, %u3, %u2, %u1;
    mul.wide.u32 %ud2, %u2, 16;
    add.u64 %ud3, %ud1, %ud2;
    shl.b32 %u1, %u1, 4;
    mov.u32 %u4, nb_shared;
    add.u32 %u4, %u4, %u1;
    ld.volatile.shared.v4.u32 {%u5, %u6, %u7, %u8}, [%u4];
    st.global.v4.u32 [%ud3], {%u5, %u6, %u7, %u8};
}
"""
"""Each thread copies 16 bytes of shared memory to global memory."""


class Device:
    """The CPU driver, with the engine's kernels; one that reads `to` writes shared memory there at its end."""

    def __init__(self, native: Path) -> None:
        self.driver = ctypes.CDLL(str(native / "sim" / "libcuda.so.1"))
        self.module = ctypes.c_void_p()
        context = ctypes.c_void_p()
        self.check("cuInit", 0)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.check("cuCtxSetCurrent", context)
        self.check("cuModuleLoadData", ctypes.byref(self.module), self.kernels().encode() + b"\0")

    @staticmethod
    def kernels() -> str:
        before, name, after = KERNELS.read_text().partition("nb_fill_shared(")
        body, end, others = after.partition("done:\n")
        body = body.replace(".param .u32 bytes)", ".param .u32 bytes, .param .u64 to)", 1)
        return before + name + body + end + WRITE_OUT + others

    def check(self, name: str, *arguments: object) -> None:
        assert getattr(self.driver, name)(*arguments) == 0, name

    def allocate(self, size: int) -> int:
        memory = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
        self.check("cuMemsetD8_v2", memory, 0, ctypes.c_size_t(size))
        return memory.value

    def launch(
        self,
        name: str,
        blocks: int,
        threads: int,
        *values: ctypes.c_uint64 | ctypes.c_uint32,
        shared: int = 0,
    ) -> None:
        kernel = ctypes.c_void_p()
        self.check("cuModuleGetFunction", ctypes.byref(kernel), self.module, name.encode())
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
        self.check("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, shared, None, places, None)

    def read(self, address: int, count: int) -> list[int]:
        found = (ctypes.c_uint32 * count)()
        self.check("cuMemcpyDtoH_v2", found, ctypes.c_uint64(address), ctypes.c_size_t(4 * count))
        return list(found)

    def free(self, *addresses: int) -> None:
        for each in addresses:
            self.check("cuMemFree_v2", ctypes.c_uint64(each))


@pytest.fixture
def device(native: Path) -> Device:
    return Device(native)


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
def test_noise_is_philox_of_the_key_and_the_address(device: Device, offset: int, count: int) -> None:
    memory = device.allocate(4 * count + 64)
    to = memory + offset
    values = ctypes.c_uint64(to), ctypes.c_uint64(count), ctypes.c_uint64(KEY), ctypes.c_uint32(SEED)
    device.launch("nb_noise", 3, 64, *values)
    found = device.read(to, count + 4)
    device.free(memory)
    expected: list[int] = []
    while len(expected) < count:
        at = to + 4 * len(expected)
        expected += [each | 1 for each in philox((at & WORD, at >> 32, SEED, 0), KEY)]
    assert found == [*expected[:count], 0, 0, 0, 0]


def test_words_of_shared_memory_differ_within_and_between_samples(device: Device) -> None:
    """Two samples of two blocks: each block finds all words of the noise, in another order."""
    blocks, threads = 2, 1024
    count = 4 * threads
    noise, copy = device.allocate(4 * count), device.allocate(4 * count * blocks)
    samples = []
    for seed in (SEED, SEED + 1):
        values = ctypes.c_uint64(noise), ctypes.c_uint64(count), ctypes.c_uint64(KEY), ctypes.c_uint32(seed)
        device.launch("nb_noise", 4, 256, *values)
        fill = ctypes.c_uint64(noise), ctypes.c_uint32(4 * count), ctypes.c_uint64(copy)
        device.launch("nb_fill_shared", blocks, threads, *fill, shared=4 * count)
        written, words = device.read(noise, count), device.read(copy, blocks * count)
        first, second = words[:count], words[count:]
        assert first == written and sorted(second) == sorted(written)
        assert all(one != other for one, other in zip(first, second, strict=True))
        samples.append(set(written))
    device.free(noise, copy)
    few = 8  # words of 31 random bits that are equal by chance
    assert min(len(each) for each in samples) > count - few
    assert len(samples[0] & samples[1]) < few
