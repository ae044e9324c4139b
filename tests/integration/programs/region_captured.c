/* Calls during a stream capture go to the graph: none of them runs when it is called. */
#include "region.h"

static void CUDA_CB on_host(void *unused)
{
    (void)unused;
}

int main(void)
{
    CUstream stream, other;
    CUevent fork, join;
    CUgraph graph;
    char host[64] = {0};
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    region_begin("captured");
    CHECK(cuEventRecord(fork, stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemsetD8Async(memory, 1, 1, stream));
    CHECK(cuEventRecord(fork, stream));
    CHECK(cuStreamWaitEvent(other, fork, 0));
    CHECK(cuMemcpyDtoDAsync(memory, memory + 64, 16, other));
    CHECK(cuMemcpyDtoHAsync(host, memory, 16, other));
    CHECK(cuLaunchHostFunc(other, on_host, NULL));
    CHECK(cuEventRecord(join, other));
    CHECK(cuStreamWaitEvent(stream, join, 0));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemsetD8Async(memory, 2, 1, stream));
    region_end();
    return 0;
}
