/* Calls that a replay cannot repeat: each kind once or twice, and one that fails. */
#include "region.h"

static void CUDA_CB on_host(void *unused)
{
    (void)unused;
}

int main(void)
{
    CUstream stream;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuLaunchHostFunc(stream, on_host, NULL));
    region_begin("refused");
    CHECK(cuMemsetD8(memory, 0, 1));
    CHECK(cuLaunchHostFunc(stream, on_host, NULL));
    CHECK(cuLaunchHostFunc(stream, on_host, NULL));
    CHECK(cuMemsetD8(memory, 0, 1));
    CHECK(cuStreamWriteValue32(stream, memory, 1, 0));
    CHECK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20));
    if (cuStreamAddCallback(stream, NULL, NULL, 0) == CUDA_SUCCESS)
        return 1;
    region_end();
    CHECK(cuLaunchHostFunc(stream, on_host, NULL));
    region_begin("clean");
    CHECK(cuMemsetD8(memory, 0, 1));
    region_end();
    return 0;
}
