/* Executable graphs of HIP: copies, sets, one that was captured, and nodes changed one at a time. */
#include "hip_region.h"

static hipGraphExec_t captured(hipStream_t stream, char *memory)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(hipMemsetAsync(memory, 7, 70, stream));
    CHECK(hipMemcpyAsync(memory + 1024, memory, 71, hipMemcpyDeviceToDevice, stream));
    CHECK(hipStreamEndCapture(stream, &graph));
    CHECK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(hipGraphDestroy(graph));
    return exec;
}

int main(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphNode_t set, row, volume, error; /* an executable volume stays of one row */
    hipGraphExec_t exec;
    char *memory = allocate("memory", 65536);
    CHECK(hipStreamCreate(&stream));
    const hipGraphExec_t other = captured(stream, memory);
    hipMemsetParams set_params = {
        .dst = memory, .elementSize = 1, .height = 1, .pitch = 0, .value = 1, .width = 10};
    hipMemcpy3DParms volume_params = {.srcPtr = {memory, 64, 64, 2},
                                      .dstPtr = {memory + 4096, 64, 64, 2},
                                      .extent = {12, 1, 1},
                                      .kind = hipMemcpyDeviceToDevice};
    CHECK(hipGraphCreate(&graph, 0));
    CHECK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &set_params));
    CHECK(hipGraphAddMemcpyNode1D(&row, graph, &set, 1, memory + 256, memory, 11, hipMemcpyDeviceToDevice));
    CHECK(hipGraphAddMemcpyNode(&volume, graph, &row, 1, &volume_params));
    CHECK(hipGraphInstantiate(&exec, graph, &error, NULL, 0));
    region_begin("graphs");
    CHECK(hipGraphLaunch(other, stream));
    CHECK(hipGraphLaunch(exec, stream));
    set_params.width = 20;
    CHECK(hipGraphExecMemsetNodeSetParams(exec, set, &set_params));
    CHECK(hipGraphExecMemcpyNodeSetParams1D(exec, row, memory + 256, memory, 21, hipMemcpyDeviceToDevice));
    volume_params.extent.width = 22;
    CHECK(hipGraphExecMemcpyNodeSetParams(exec, volume, &volume_params));
    CHECK(hipGraphLaunch(exec, NULL));
    region_end();
    CHECK(hipGraphExecDestroy(exec));
    return 0;
}
