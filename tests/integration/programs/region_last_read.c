/* A region whose last work is that the host reads; one that goes on; one whose graph reads. */
#include "region.h"

int main(void)
{
    enum { LARGE = 1 << 20 };
    static unsigned large[LARGE / 4];
    unsigned host;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUcontext context;
    CUevent event;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", LARGE);
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));

    region_begin("last");
    CHECK(cuMemsetD32(memory, 1, 8));
    CHECK(cuMemcpyDtoH(&host, memory, 4));
    CHECK(cuMemcpyDtoHAsync(&host, memory, 4, NULL));
    CHECK(cuEventRecord(event, NULL));
    CHECK(cuStreamWaitEvent(NULL, event, 0));
    CHECK(cuMemcpyDtoHAsync(large, memory, LARGE, NULL));
    CHECK(cuStreamSynchronize(NULL));
    region_end();

    region_begin("goes on");
    CHECK(cuMemsetD32(memory, 1, 8));
    CHECK(cuMemcpyDtoH(&host, memory, 4));
    CHECK(cuMemcpyDtoH(large, memory, LARGE));
    CHECK(cuMemsetD32(memory, host + 1, 8));
    CHECK(cuMemcpyDtoH(&host, memory, 4));
    region_end();

    const CUDA_MEMCPY3D read = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = &host,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &read, context));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    region_begin("graph");
    CHECK(cuMemsetD32(memory, 1, 8));
    CHECK(cuGraphLaunch(exec, NULL));
    region_end();
    return 0;
}
