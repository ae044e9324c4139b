/* Streams and events that are destroyed, and others made, in a region: handles that may be the same. */
#include "region.h"

int main(void)
{
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    region_begin("handles");
    for (int i = 0; i < 3; i++) {
        CUstream stream;
        CUevent event;
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        CHECK(cuMemsetD8Async(memory, (unsigned char)i, 1, stream));
        CHECK(cuEventRecord(event, stream));
        CHECK(cuEventRecord(event, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuEventDestroy(event));
        CHECK(cuStreamDestroy(stream));
    }
    region_end();
    region_begin("again");
    CHECK(cuMemsetD8(memory, 9, 1));
    region_end();
    return 0;
}
