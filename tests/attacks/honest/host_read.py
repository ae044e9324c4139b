"""The host reads the size from device memory, into pinned memory and in a stream's order, and launches by it."""

import ctypes

import kit

kept = {}


def solution(x, y, n, rounds):
    if n not in kept:
        size, seen = kit.allocate(8), ctypes.c_void_p()
        kit.write(size, n.to_bytes(8, "little"))
        kit.check("cuMemHostAlloc", ctypes.byref(seen), ctypes.c_size_t(8), 0)
        kept[n] = size, seen, kit.new_stream()
    size, seen, stream = kept[n]
    kit.check("cuMemcpyDtoHAsync_v2", seen, kit.u64(size), ctypes.c_size_t(8), stream)
    kit.check("cuStreamSynchronize", stream)
    count = ctypes.c_uint64.from_address(seen.value).value
    kit.mix(x.data_ptr(), y.data_ptr(), count, rounds, stream)
