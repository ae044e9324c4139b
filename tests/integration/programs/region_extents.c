/* Operations whose first byte a capture holds, and whose others it may not; and named ranges. */
#include <string.h>

#include "region.h"

#define PIECE 512u /* the arena's: two blocks of it touch */

static const char code[] = "\n.version 7.5\n.target sm_75\n.address_size 64\n"
                           ".global .align 4 .b8 table[16] = {1, 2, 3};\n";

static int name(CUdeviceptr address, size_t bytes, uint32_t role, uint32_t rank)
{
    static const uint64_t shape[5000];
    union {
        void *address;
        int (*range)(const char *, uint32_t, uint64_t, uint64_t, const char *, const uint64_t *, uint32_t);
    } function = {dlsym(RTLD_DEFAULT, "neutrino_region_range")};
    return function.range("x", role, address, bytes, "uint8", shape, rank);
}

static void launch_node(CUgraph graph)
{
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void launch_set(CUdeviceptr to, unsigned value, size_t width)
{
    CUgraph graph;
    CUgraphNode node;
    CUcontext context;
    const CUDA_MEMSET_NODE_PARAMS set = {
        .dst = to, .value = value, .elementSize = 1, .width = width, .height = 1};
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    launch_node(graph);
}

static void copy_plane(CUdeviceptr to, CUdeviceptr from, size_t width, size_t height)
{
    const CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = from,
                                 .srcPitch = PIECE,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .dstDevice = to,
                                 .dstPitch = 64,
                                 .WidthInBytes = width,
                                 .Height = height};
    CHECK(cuMemcpy2D(&plane));
}

int main(void)
{
    char host[4 * PIECE] = {0};
    CUmodule module;
    CUdeviceptr table;
    region_start();
    const CUdeviceptr first = region_allocate("first", PIECE), second = region_allocate("second", PIECE);
    const CUdeviceptr last = region_allocate("last", 100); /* of a piece that is longer */
    CHECK(cuModuleLoadData(&module, code));
    CHECK(cuModuleGetGlobal(&table, NULL, module, "table"));
    printf("table %llu\n", (unsigned long long)table);

    region_begin("held");
    CHECK(cuMemsetD8(first + 500, 1, 12 + PIECE)); /* of both */
    CHECK(cuMemsetD2D8(first, PIECE, 2, 100, 3));
    CHECK(cuMemcpyDtoD(second, first, PIECE + 100));
    CHECK(cuMemcpyHtoD(table + 4, host, 12));
    CHECK(cuMemsetD8(last, 3, 0));
    CHECK(cuMemsetD2D8(last, PIECE, 3, 8, 0));
    CHECK(cuMemcpyHtoD(last + 100, host, 0));
    copy_plane(last, last, 8, 0);
    launch_set(last, 0x4, 100);
    if (name(first, 2 * PIECE + 100, 1, 1) != 0 || name(table + 1, 15, 2, 1) != 0 || name(0, 0, 1, 1) != 0)
        return 1;
    region_end();

    region_begin("outside");
    CHECK(cuMemsetD8(last, 1, 101));
    CHECK(cuMemsetD32Async(last, 1, 26, NULL));
    CHECK(cuMemsetD2D8(last, PIECE, 2, 8, 2));
    CHECK(cuMemcpyHtoD(last + 96, host, 5));
    CHECK(cuMemcpyDtoD(last + 100, first, 1));
    CHECK(cuMemcpyDtoDAsync(first, last + 1, 100, NULL));
    copy_plane(first, second, 8, 3);
    CHECK(cuMemcpyDtoHAsync(host, last + 1, 100, NULL));
    launch_set(last, 0, 101);
    printf("named %d%d%d%d%d\n", name(last, 101, 1, 1) == -1, name(first - 1, 2, 1, 1) == -1,
           name(table, 17, 1, 1) == -1, name(first, 1, 4, 1) == -1, name(first, 1, 1, 4097) == -1);
    region_end();
    return 0;
}
