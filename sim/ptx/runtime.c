/* The functions of the device runtime (libcudadevrt.a), and vprintf and its like. The engine defines a
 * function in PTX if a module declares the function and does not define it. The grid barrier follows
 * cooperative_groups/details/sync.h; its handle is the grid's workspace. The handle of a conditional graph
 * node is the address of its value. */
#include "ptx/runtime.h"

#include <string.h>

#include "ptx/decoded_instruction.h"

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

static const struct ptx_builtin builtins[] = {
    {"vprintf", BUILTIN_VPRINTF, 0, 2, {8, 8}},
    {"__assertfail", BUILTIN_ASSERT_FAIL, 0, 5, {8, 8}},
    {"malloc", BUILTIN_MALLOC, 8, 1, {8}},
    {"free", BUILTIN_FREE, 0, 1, {8}},
    {"cudaGetParameterBufferV2", BUILTIN_GET_PARAMETER_BUFFER, 8, 4, {8, 12, 12, 4}},
    {"cudaLaunchDeviceV2", BUILTIN_LAUNCH_DEVICE, 4, 2, {8, 8}},
    {"cudaGetLastError", BUILTIN_GET_LAST_ERROR, 4, 0, {0}},
    {"cudaPeekAtLastError", BUILTIN_PEEK_AT_LAST_ERROR, 4, 0, {0}},
    {"cudaGetErrorName", BUILTIN_GET_ERROR_NAME, 8, 1, {4}},
    {"cudaGetErrorString", BUILTIN_GET_ERROR_STRING, 8, 1, {4}},
    {"cudaMemcpyAsync", BUILTIN_MEMCPY_ASYNC, 4, 5, {8, 8, 8, 4}},
    {"cudaMemsetAsync", BUILTIN_MEMSET_ASYNC, 4, 4, {8, 4, 8, 8}},
    {"cudaMalloc", BUILTIN_DEVICE_MALLOC, 4, 2, {8, 8}},
    {"cudaFree", BUILTIN_DEVICE_FREE, 4, 1, {8}},
    {"cudaStreamCreateWithFlags", BUILTIN_STREAM_CREATE, 4, 2, {8, 4}},
    {"cudaStreamDestroy", BUILTIN_STREAM_OR_EVENT, 4, 1, {8}},
    {"cudaStreamWaitEvent", BUILTIN_STREAM_OR_EVENT, 4, 3, {8, 8, 4}},
    {"cudaEventCreateWithFlags", BUILTIN_EVENT_CREATE, 4, 2, {8, 4}},
    {"cudaEventRecord", BUILTIN_STREAM_OR_EVENT, 4, 2, {8, 8}},
    {"cudaEventRecordWithFlags", BUILTIN_STREAM_OR_EVENT, 4, 3, {8, 8, 4}},
    {"cudaEventDestroy", BUILTIN_STREAM_OR_EVENT, 4, 1, {8}}};

static bool starts_with(const char *name, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* nvcc 12 and later write __cudaCDP2GetLastError for cudaGetLastError (cuda_device_runtime_api.h). _ptsz
 * marks code that was compiled for per-thread default streams. */
#define PREFIX "__cudaCDP2"
#define SUFFIX "_ptsz"

static bool is_name(const char *name, size_t length, const char *wanted)
{
    const size_t suffix = strlen(SUFFIX);
    if (starts_with(wanted, strlen(wanted), "cuda")) {
        const size_t prefix = strlen(starts_with(name, length, PREFIX) ? PREFIX : "cuda");
        if (!starts_with(name, length, PREFIX) && !starts_with(name, length, "cuda"))
            return false;
        name += prefix;
        length -= prefix;
        wanted += strlen("cuda");
        if (length > suffix && memcmp(name + length - suffix, SUFFIX, suffix) == 0)
            length -= suffix;
    }
    return length == strlen(wanted) && memcmp(name, wanted, length) == 0;
}

const struct ptx_builtin *ptx_find_builtin(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (is_name(name, length, builtins[i].name))
            return &builtins[i];
    return NULL;
}

bool ptx_runtime_lacks(const char *name, size_t length)
{
    static const char *const families[] = {
        PREFIX, "cudaGetParameterBuffer", "cudaLaunchDevice", "cudaGraph", "cudaCG", "cnpGraph"};
    bool known = false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        known |= starts_with(name, length, families[i]);
    return known && ptx_find_builtin(name, length) == NULL && ptx_runtime_text(name, length) == NULL;
}
