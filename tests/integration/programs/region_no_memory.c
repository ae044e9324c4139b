/* One process after another in whose region the shim's first, second, third ... allocation fails, until none
 * does. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

static void *shim;            /* where it is loaded */
static atomic_int until = -1; /* allocations that succeed; negative: all do */
static atomic_int failed;

static bool fails(void *caller)
{
    Dl_info info;
    if (until < 0 || dladdr(caller, &info) == 0 || info.dli_fbase != shim || until-- > 0)
        return false;
    failed++;
    until = -1;
    return true;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, bytes);
}

static const char code[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                           ".global .align 4 .u32 counter = 5;\n"
                           ".visible .entry count(.param .u64 to)\n{\n"
                           "  .reg .b32 %r<2>;\n  .reg .b64 %rd<3>;\n"
                           "  ld.param.u64 %rd1, [to];\n  cvta.to.global.u64 %rd2, %rd1;\n"
                           "  ld.global.u32 %r1, [counter];\n  st.global.u32 [%rd2], %r1;\n"
                           "  st.global.u32 [counter], %r1;\n  ret;\n}\n";

static void end_region(void)
{
    const union {
        void *address;
        int (*end)(void);
    } function = {dlsym(RTLD_DEFAULT, "neutrino_region_end")};
    function.end(); /* says no if memory could not be read */
}

static void work(CUdeviceptr memory)
{
    static unsigned char host[256];
    CUmodule module;
    CUfunction function;
    CUdeviceptr counter, managed;
    CUstream stream;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *registers = (void *)(size_t)64;
    void *parameters[] = {&memory};
    const CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                 .srcHost = host,
                                 .srcPitch = 16,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .dstDevice = memory,
                                 .dstPitch = 16,
                                 .WidthInBytes = 8,
                                 .Height = 4};
    CHECK(cuModuleLoadDataEx(&module, code, 1, &option, &registers));
    CHECK(cuModuleGetFunction(&function, module, "count"));
    CHECK(cuModuleGetGlobal(&counter, NULL, module, "counter"));
    CHECK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemcpy2DAsync(&plane, stream));
    CHECK(cuMemcpyHtoDAsync(counter, host, 4, stream));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(NULL, event, 0));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuGraphCreate(&graph, 0));
    const CUDA_KERNEL_NODE_PARAMS launch = {.func = function,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = parameters};
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &launch));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuCtxSynchronize());
}

/* In a process of its own, since some of what is lost is lost for good. */
static int run(int allocations)
{
    Dl_info info;
    int status = 1;
    const pid_t child = fork();
    if (child != 0)
        return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    alarm(60);
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    if (dladdr(dlsym(RTLD_DEFAULT, "neutrino_region_begin"), &info) == 0)
        exit(1);
    shim = info.dli_fbase;
    region_begin("x");
    until = allocations;
    work(memory);
    end_region();
    exit(failed != 0 ? 0 : 3);
}

int main(void)
{
    int count = 0, status;
    while ((status = run(count)) == 0 && count < 500)
        count++;
    if (status != 3)
        return 1;
    printf("allocations %d\n", count);
    return 0;
}
