/* bounded MODE...: one thread accesses memory of every kind, within its bounds or not. Each mode prints a
 * line with the address, and the result of waiting for it. */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scale.h"

/* `what` selects the access of thread (5, 0, 0) of block (1, 0, 0). The .loc lines are the selectors
 * times 10. */
static const char text[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"bounded.cu\"\n"
    ".visible .global .align 4 .u32 own = 7;\n"
    ".visible .const .align 4 .u32 fixed = 9;\n"
    ".global .align 1 .b8 $str[4] = {1, 2, 3, 4};\n"
    ".shared .align 4 .b8 tile[64];\n"
    ".visible .entry reach(.param .u64 place, .param .u32 what)\n"
    "{\n"
    "  .reg .pred %p<9>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n"
    "  ld.param.u64 %rd1, [place];\n  ld.param.u32 %r1, [what];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  setp.ne.u32 %p1, %r2, 1;\n  @%p1 bra done;\n"
    "  setp.ne.u32 %p1, %r3, 5;\n  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  setp.eq.u32 %p2, %r1, 1;\n  setp.eq.u32 %p3, %r1, 2;\n  setp.eq.u32 %p4, %r1, 3;\n"
    "  setp.eq.u32 %p5, %r1, 4;\n  setp.eq.u32 %p6, %r1, 5;\n"
    "  .loc 1 10 0\n  @%p2 ld.u32 %r4, [%rd1];\n"
    "  .loc 1 20 0\n  @%p3 st.global.u32 [%rd2], %r3;\n"
    "  .loc 1 30 0\n  @%p4 atom.global.add.u32 %r5, [%rd2], 1;\n"
    "  cvt.u32.u64 %r6, %rd1;\n  mov.u32 %r7, tile;\n  add.u32 %r6, %r6, %r7;\n"
    "  .loc 1 40 0\n  @%p5 st.shared.u32 [%r6], %r3;\n"
    "  @!%p6 bra done;\n"
    "  .loc 1 50 0\n  ld.global.u32 %r4, [own];\n  ld.const.u32 %r4, [fixed];\n"
    "  mov.u64 %rd3, fixed;\n  cvta.const.u64 %rd3, %rd3;\n  ld.u32 %r4, [%rd3];\n"
    "  mov.u64 %rd4, $str;\n  cvta.global.u64 %rd4, %rd4;\n  ld.u8 %r4, [%rd4+3];\n"
    "done:\n  ret;\n}\n";

enum { READ = 1, WRITE, ATOMIC, SHARED, VARIABLES, BYTES = 1000, LARGE = 2 << 20 };

static CUfunction reach;
static CUmodule module;
static const char *mode;

static void launch(CUdeviceptr place, unsigned what, CUstream stream)
{
    void *parameters[] = {&place, &what};
    printf("%s: %#llx\n", mode, place);
    fflush(stdout);
    CHECK(cuLaunchKernel(reach, 2, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

/* Use the first and the last word. */
static void use(CUdeviceptr place, size_t bytes)
{
    for (unsigned what = READ; what <= ATOMIC; what++) {
        launch(place, what, NULL);
        launch(place + bytes - 4, what, NULL);
    }
    CHECK(cuCtxSynchronize());
}

static void use_host(void *memory, size_t bytes)
{
    CUdeviceptr place;
    CHECK(cuMemHostGetDevicePointer(&place, memory, 0));
    use(place, bytes);
}

static void map_memory(void)
{
    const CUmemAllocationProp memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {.location = memory.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr place;
    CHECK(cuMemCreate(&handle, LARGE, &memory, 0));
    CHECK(cuMemAddressReserve(&place, LARGE, 0, 0, 0));
    CHECK(cuMemMap(place, LARGE, 0, handle, 0));
    CHECK(cuMemSetAccess(place, LARGE, &access, 1));
    use(place, LARGE);
    CHECK(cuMemUnmap(place, LARGE));
}

static void use_variables(void)
{
    CUdeviceptr place;
    size_t bytes;
    CUmodule other;
    launch(0, VARIABLES, NULL);
    CHECK(cuModuleLoadData(&other, ".version 8.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .global .align 4 .b8 elsewhere[64];\n"));
    CHECK(cuModuleGetGlobal(&place, &bytes, other, "elsewhere"));
    use(place, bytes);
}

/* Memory that a stream frees is used by another stream, before and after the call. The program orders the
 * free behind both: the first stream waits for a word that the host sets last. */
static void use_while_freed(void)
{
    CUstream first, second;
    CUdeviceptr place, word;
    void *host;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0, 4096);
    CHECK(cuMemHostGetDevicePointer(&word, host, 0));
    CHECK(cuMemAllocAsync(&place, BYTES, first));
    CHECK(cuStreamSynchronize(first));
    launch(place, WRITE, second);
    CHECK(cuStreamWaitValue32(first, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(cuMemFreeAsync(place, first));
    launch(place, WRITE, second);
    CHECK(cuStreamSynchronize(second));
    *(volatile unsigned *)host = 1;
    CHECK(cuStreamSynchronize(first));
}

/* Each launch of the graph allocates the memory, and the program frees it. */
static void use_again(CUgraph graph, CUdeviceptr place)
{
    CUgraphExec executable;
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) {
        CHECK(cuGraphLaunch(executable, NULL));
        use(place, BYTES);
        CHECK(i == 0 ? cuMemFree(place) : cuMemFreeAsync(place, NULL));
        CHECK(cuCtxSynchronize());
    }
}

static void use_graph_memory(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                                         .bytesize = BYTES};
    CUgraph graph;
    CUgraphNode node;
    CUstream stream;
    CUdeviceptr place;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    use_again(graph, memory.dptr);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemAllocAsync(&place, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    use_again(graph, place);
}

static void use_after_free(bool is_ordered)
{
    CUdeviceptr place, beside;
    CHECK(is_ordered ? cuMemAllocAsync(&place, BYTES, NULL) : cuMemAlloc(&place, BYTES));
    CHECK(is_ordered ? cuMemAllocAsync(&beside, BYTES, NULL) : cuMemAlloc(&beside, BYTES));
    CHECK(is_ordered ? cuMemFreeAsync(place, NULL) : cuMemFree(place));
    launch(place, READ, NULL);
}

static void run(void)
{
    CUdeviceptr place;
    void *host;
    CHECK(cuMemAlloc(&place, BYTES));
    if (strcmp(mode, "device") == 0) {
        use(place, BYTES);
    } else if (strcmp(mode, "pitch") == 0) {
        size_t pitch;
        CHECK(cuMemAllocPitch(&place, &pitch, 100, 7, 4));
        use(place, 7 * pitch);
    } else if (strcmp(mode, "async") == 0) {
        CHECK(cuMemAllocAsync(&place, BYTES, NULL));
        use(place, BYTES);
        CHECK(cuMemFreeAsync(place, NULL));
    } else if (strcmp(mode, "managed") == 0) {
        CHECK(cuMemAllocManaged(&place, BYTES, CU_MEM_ATTACH_GLOBAL));
        use(place, BYTES);
    } else if (strcmp(mode, "host") == 0) {
        CHECK(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
        use_host(host, BYTES);
        CHECK(cuMemAllocHost(&host, BYTES));
        use_host(host, BYTES);
    } else if (strcmp(mode, "registered") == 0) {
        host = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(cuMemHostRegister(host, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
        use_host(host, 4096);
        CHECK(cuMemHostUnregister(host));
    } else if (strcmp(mode, "mapped") == 0) {
        map_memory();
    } else if (strcmp(mode, "variables") == 0) {
        use_variables();
    } else if (strcmp(mode, "graph") == 0) {
        use_graph_memory();
    } else if (strcmp(mode, "while-freed") == 0) {
        use_while_freed();
    } else if (strcmp(mode, "many") == 0) {
        for (int i = 0; i < 40000; i++)
            CHECK(cuMemAlloc(&place, 16));
        launch(place + 16, WRITE, NULL);
    } else if (strcmp(mode, "read") == 0) {
        launch(place + BYTES + 20, READ, NULL);
    } else if (strcmp(mode, "write") == 0) {
        launch(place + BYTES, WRITE, NULL);
    } else if (strcmp(mode, "atomic") == 0) {
        launch(place - 8, ATOMIC, NULL);
    } else if (strcmp(mode, "misaligned") == 0) {
        launch(place + 6, READ, NULL);
    } else if (strcmp(mode, "shared") == 0) {
        launch(128, SHARED, NULL);
    } else if (strcmp(mode, "far") == 0) {
        launch(place + (1ull << 40), WRITE, NULL);
    } else if (strcmp(mode, "freed") == 0) {
        use_after_free(false);
    } else if (strcmp(mode, "freed-async") == 0) {
        use_after_free(true);
    } else {
        exit(2);
    }
}

int main(int argc, char **argv)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&reach, module, "reach"));
    for (int i = 1; i < argc; i++) {
        mode = argv[i];
        run();
        printf("%s: %d\n", mode, (int)cuCtxSynchronize());
    }
    return 0;
}
