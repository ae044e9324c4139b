/* Graphs with nodes that no replay can repeat; each is launched in the region, one is not. */
#include <string.h>

#include "region_graph.h"

static void CUDA_CB on_host(void *unused)
{
    (void)unused;
}

static CUgraph new_graph(void)
{
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    return graph;
}

int main(void)
{
    enum { HOST, READ, RECORD, ALLOCATE, WRITE_VALUE, MANAGED, CONDITIONAL, SWITCHED_OFF, COUNT };
    CUcontext context;
    CUevent event;
    CUgraphNode node, read;
    CUdeviceptr managed;
    CUgraphConditionalHandle handle;
    CUgraph graphs[COUNT];
    CUgraphExec executables[COUNT];
    unsigned char host[8];
    region_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    const CUdeviceptr memory = region_allocate("memory", 4096);
    for (int i = 0; i < COUNT; i++)
        graphs[i] = new_graph();

    const CUDA_HOST_NODE_PARAMS call = {.fn = on_host};
    CHECK(cuGraphAddHostNode(&node, graphs[HOST], NULL, 0, &call));
    CUDA_MEMCPY3D down = region_copy(memory, CU_MEMORYTYPE_DEVICE, memory, sizeof host);
    down.dstMemoryType = CU_MEMORYTYPE_HOST;
    down.dstHost = host;
    CHECK(cuGraphAddMemcpyNode(&node, graphs[READ], NULL, 0, &down, context));
    CHECK(cuGraphAddEventRecordNode(&node, graphs[RECORD], NULL, 0, event));
    CUDA_MEM_ALLOC_NODE_PARAMS allocate = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                         .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                           .bytesize = 4096};
    CHECK(cuGraphAddMemAllocNode(&node, graphs[ALLOCATE], NULL, 0, &allocate));
    CUstreamBatchMemOpParams write = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = memory, .value = 1}};
    const CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.ctx = context, .count = 1, .paramArray = &write};
    CHECK(cuGraphAddBatchMemOpNode(&node, graphs[WRITE_VALUE], NULL, 0, &batch));
    const CUDA_MEMSET_NODE_PARAMS set = region_set(managed, 1);
    CHECK(cuGraphAddMemsetNode(&node, graphs[MANAGED], NULL, 0, &set, context));
    CHECK(cuGraphConditionalHandleCreate(&handle, graphs[CONDITIONAL], context, 0, 0));
    CUgraphNodeParams condition = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = context}};
    CHECK(cuGraphAddNode(&node, graphs[CONDITIONAL], NULL, NULL, 0, &condition));
    CHECK(cuGraphAddMemcpyNode(&read, graphs[SWITCHED_OFF], NULL, 0, &down, context));

    for (int i = 0; i < COUNT; i++)
        executables[i] = region_instantiate(graphs[i]);
    CHECK(cuGraphNodeSetEnabled(executables[SWITCHED_OFF], read, 0));
    region_begin("refused");
    for (int i = 0; i < COUNT; i++)
        CHECK(cuGraphLaunch(executables[i], NULL));
    region_end();
    region_begin("clean");
    CHECK(cuGraphLaunch(executables[SWITCHED_OFF], NULL));
    region_end();
    return 0;
}
