/* Work for a stream of a second context. */
#include "region.h"

int main(void)
{
    CUcontext first, second;
    CUstream stream;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuCtxGetCurrent(&first));
    CHECK(cuCtxCreate(&second, NULL, 0, 0));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuCtxSetCurrent(first));
    region_begin("contexts");
    CHECK(cuMemsetD8(memory, 0, 1));
    CHECK(cuCtxSetCurrent(second)); /* harmless by itself */
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuMemsetD8(memory, 0, 1));
    CHECK(cuCtxSetCurrent(second));
    CHECK(cuMemsetD8Async(memory, 0, 1, stream));
    CHECK(cuCtxSetCurrent(first));
    region_end();
    return 0;
}
