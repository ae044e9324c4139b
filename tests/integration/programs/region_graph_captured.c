/* A graph captured from two streams, one of them urgent, of cooperative launches. */
#include "region_graph.h"

static void launch(CUfunction function, CUstream stream, CUdeviceptr to, unsigned value)
{
    void *parameters[] = {&to, &value};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    const CUlaunchConfig config = {.gridDimX = 2,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL));
}

int main(void)
{
    CUstream stream, other;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec executable;
    int least, greatest;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    const CUfunction function = region_kernel();
    CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, greatest));
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(function, stream, memory, 1);
    CHECK(cuEventRecord(fork, stream));
    CHECK(cuStreamWaitEvent(other, fork, 0));
    launch(function, other, memory + 4, 2);
    CHECK(cuEventRecord(join, other));
    launch(function, stream, memory + 8, 3);
    CHECK(cuStreamWaitEvent(stream, join, 0));
    launch(function, stream, memory + 12, 4);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    printf("priority %d\n", greatest);
    region_begin("captured");
    CHECK(cuGraphLaunch(executable, stream));
    region_end();
    return 0;
}
