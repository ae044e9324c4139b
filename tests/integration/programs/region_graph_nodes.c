/* A graph with a node of each kind that a capture keeps, whose graph is gone when it is launched. */
#include <string.h>

#include "region_graph.h"

int main(void)
{
    CUcontext context;
    CUgraph graph;
    CUgraphNode set, copy, upload, empty;
    CUstream stream;
    unsigned char host[3] = {1, 2, 3};
    region_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr memory = region_allocate("memory", 4096);
    const CUfunction function = region_kernel();
    CHECK(cuGraphCreate(&graph, 0));
    const CUgraphNode first = region_add_store(graph, NULL, function, memory, 10);
    const CUDA_MEMSET_NODE_PARAMS set_params = region_set(memory + 64, 11);
    CHECK(cuGraphAddMemsetNode(&set, graph, &first, 1, &set_params, context));
    const CUDA_MEMCPY3D copy_params = region_copy(memory + 128, CU_MEMORYTYPE_DEVICE, memory, 12);
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &first, 1, &copy_params, context));
    const CUDA_MEMCPY3D upload_params =
        region_copy(memory + 256, CU_MEMORYTYPE_HOST, (CUdeviceptr)host, sizeof host);
    CHECK(cuGraphAddMemcpyNode(&upload, graph, &copy, 1, &upload_params, context));
    const CUgraphNode before_last[] = {set, upload};
    CHECK(cuGraphAddEmptyNode(&empty, graph, before_last, 2));
    region_add_store(graph, &empty, function, memory + 4, 13);
    const CUgraphExec executable = region_instantiate(graph);
    CHECK(cuGraphDestroy(graph));
    region_begin("nodes");
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    host[1] = 20;
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    region_end();
    region_begin("once more");
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuStreamSynchronize(stream));
    region_end();
    CHECK(cuGraphExecDestroy(executable));
    return 0;
}
