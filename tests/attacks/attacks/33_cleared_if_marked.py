"""As 33_cleared_between.py. A call sets a mark, and clears the table if it finds the mark. The hook clears both."""

import gc

import kit

PLACES = 8 << 20
CLEAR_IF = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry clear_if(.param .u64 table, .param .u64 mark, .param .u32 count)
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [table];
    ld.param.u64 %rd2, [mark];
    ld.param.u32 %r1, [count];
    ld.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra DONE;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, 0;
    mov.u32 %r5, %ntid.x;
LOOP:
    setp.ge.u32 %p2, %r3, %r1;
    @%p2 bra DONE;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r4;
    add.u32 %r3, %r3, %r5;
    bra LOOP;
DONE:
    ret;
}
"""
table = []


def clear(phase, info):
    if phase == "stop" and table:
        kit.fill(table[0], 0, PLACES)
        kit.fill(table[1], 0, 1)
        kit.synchronise()


def solution(x, y, n):
    if not table:
        table.extend((kit.allocate(4 * PLACES), kit.allocate(4)))
        gc.callbacks.append(clear)
        clear("stop", None)
    values = kit.u64(table[0]), kit.u64(table[1]), kit.i32(PLACES)
    kit.launch("clear_if", 1, kit.THREADS, *values, ptx=CLEAR_IF)
    kit.fill(table[1], 1, 1)
    kit.count_repeats(x.data_ptr(), table[0], y.data_ptr(), n)
