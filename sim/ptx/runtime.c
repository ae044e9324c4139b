/* The part of the device runtime (libcudadevrt.a) that programs without dynamic parallelism use, in PTX. The
 * engine defines a function of it if a module declares the function and does not define it. The grid barrier
 * follows cooperative_groups/details/sync.h; its handle is the grid's workspace. The handle of a conditional
 * graph node is the address of its value. */
#include "ptx/runtime.h"

#include <string.h>

static const struct {
    const char *name, *text;
} functions[] = {
    {"cudaCGGetIntrinsicHandle",
     ".visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
     ".reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
     "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %rd1, {%r1, %r2};\n"
     "st.param.b64 [result], %rd1; ret;\n}\n"},
    {"cudaCGSynchronize",
     ".visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
     ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<2>;\n"
     "ld.param.b64 %rd1, [handle]; barrier.sync 0;\n"
     "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; or.b32 %r1, %r1, %r2; mov.u32 %r2, %tid.z;\n"
     "or.b32 %r1, %r1, %r2; setp.ne.u32 %p1, %r1, 0; @%p1 bra ALL;\n"
     "mov.u32 %r3, %nctaid.x; mov.u32 %r4, %nctaid.y; mul.lo.u32 %r3, %r3, %r4;\n"
     "mov.u32 %r4, %nctaid.z; mul.lo.u32 %r3, %r3, %r4;\n"
     "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; or.b32 %r5, %r5, %r6; mov.u32 %r6, %ctaid.z;\n"
     "or.b32 %r5, %r5, %r6; setp.eq.u32 %p2, %r5, 0; sub.u32 %r7, 0x80000001, %r3;\n"
     "selp.b32 %r8, %r7, 1, %p2; membar.gl; atom.add.u32 %r9, [%rd1+4], %r8;\n"
     "WAIT: ld.volatile.u32 %r10, [%rd1+4]; xor.b32 %r11, %r10, %r9; setp.ge.s32 %p3, %r11, 0;\n"
     "@%p3 bra WAIT; membar.gl;\n"
     "ALL: barrier.sync 0; st.param.b32 [result], 0; ret;\n}\n"},
    {"cudaGraphSetConditional",
     ".visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)\n{\n"
     ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
     "ld.param.b64 %rd1, [handle]; ld.param.b32 %r1, [value]; st.u32 [%rd1], %r1; ret;\n}\n"}};

const char *ptx_runtime_text(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
            return functions[i].text;
    return NULL;
}
