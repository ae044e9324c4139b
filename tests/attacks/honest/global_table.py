"""A kernel with a global of its own, which the capture holds beside the buffers."""

import kit

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry count()
{
    .reg .u32 %r<3>;
    ld.global.u32 %r1, [table];
    add.u32 %r2, %r1, 1;
    st.global.u32 [table], %r2;
    ret;
}
"""


def solution(x, y, n, rounds):
    kit.launch("count", 1, 1, ptx=PTX)
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
