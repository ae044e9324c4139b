/* An executable graph is changed in every way, and launched after each. */
#include "region_graph.h"

int main(void)
{
    CUcontext context;
    CUgraph graph, child, other_child, other;
    CUgraphNode set, copy, contained;
    CUgraphExecUpdateResultInfo info;
    struct store store;
    region_start();
    CHECK(cuCtxGetCurrent(&context));
    const CUdeviceptr memory = region_allocate("memory", 4096);
    const CUfunction function = region_kernel();
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphCreate(&child, 0));
    CHECK(cuGraphCreate(&other_child, 0));
    region_add_store(child, NULL, function, memory, 1);
    region_add_store(other_child, NULL, function, memory, 2);
    const CUgraphNode kernel = region_add_store(graph, NULL, function, memory, 3);
    CUDA_MEMSET_NODE_PARAMS set_params = region_set(memory + 64, 4);
    CHECK(cuGraphAddMemsetNode(&set, graph, &kernel, 1, &set_params, context));
    CUDA_MEMCPY3D copy_params = region_copy(memory + 128, CU_MEMORYTYPE_DEVICE, memory, 5);
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &copy_params, context));
    CHECK(cuGraphAddChildGraphNode(&contained, graph, &copy, 1, child));
    const CUgraphExec executable = region_instantiate(graph);
    region_begin("updates");
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuGraphExecKernelNodeSetParams(executable, kernel, region_store(&store, function, memory, 13)));
    CHECK(cuGraphLaunch(executable, NULL));
    set_params.value = 14;
    CHECK(cuGraphExecMemsetNodeSetParams(executable, set, &set_params, context));
    CHECK(cuGraphLaunch(executable, NULL));
    copy_params.srcDevice += 15;
    CHECK(cuGraphExecMemcpyNodeSetParams(executable, copy, &copy_params, context));
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuGraphExecChildGraphNodeSetParams(executable, contained, other_child));
    CHECK(cuGraphLaunch(executable, NULL));
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    const CUDA_KERNEL_NODE_PARAMS *params = region_store(&store, function, memory, 23);
    any.kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.func = params->func,
                                              .gridDimX = params->gridDimX,
                                              .gridDimY = params->gridDimY,
                                              .gridDimZ = params->gridDimZ,
                                              .blockDimX = params->blockDimX,
                                              .blockDimY = params->blockDimY,
                                              .blockDimZ = params->blockDimZ,
                                              .kernelParams = params->kernelParams};
    CHECK(cuGraphExecNodeSetParams(executable, kernel, &any));
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuGraphNodeSetEnabled(executable, kernel, 0));
    CHECK(cuGraphNodeSetEnabled(executable, set, 0));
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuGraphNodeSetEnabled(executable, kernel, 1));
    CHECK(cuGraphNodeSetEnabled(executable, set, 1));
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuGraphLaunch(executable, NULL)); /* not changed since */
    CHECK(cuGraphClone(&other, graph));
    CHECK(cuGraphExecUpdate(executable, other, &info));
    CHECK(cuGraphLaunch(executable, NULL));
    region_end();
    region_begin("lost");
    CHECK(cuGraphExecKernelNodeSetParams(executable, kernel, region_store(&store, function, memory, 33)));
    CHECK(cuGraphLaunch(executable, NULL));
    region_end();
    return 0;
}
