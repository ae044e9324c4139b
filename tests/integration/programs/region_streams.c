/* A fork and a join by events, and the host's waits. With per-thread default streams if compiled so. */
#include "region.h"

int main(void)
{
    int lowest, highest;
    CUstream urgent, blocking, unused;
    CUevent before, fork, join;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuCtxGetStreamPriorityRange(&lowest, &highest));
    printf("highest %d\n", highest);
    CHECK(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, highest));
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&unused, CU_STREAM_DEFAULT));
    CHECK(cuEventCreate(&before, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(before, urgent));
    region_begin("streams");
    CHECK(cuCtxSynchronize()); /* nothing is before it */
    CHECK(cuMemsetD8Async(memory, 0, 1, NULL));
    CHECK(cuStreamWaitEvent(blocking, before, 0)); /* over when the region began */
    CHECK(cuEventRecord(fork, NULL));
    CHECK(cuStreamWaitEvent(urgent, fork, 0));
    CHECK(cuMemsetD8Async(memory, 1, 1, urgent));
    CHECK(cuEventRecordWithFlags(join, urgent, CU_EVENT_RECORD_DEFAULT));
    CHECK(cuStreamWaitEvent(NULL, join, 0));
    CHECK(cuEventSynchronize(join));
    CHECK(cuEventQuery(join));          /* says what the line before said */
    CHECK(cuEventSynchronize(before));  /* adds no order */
    CHECK(cuStreamSynchronize(unused)); /* has no work */
    CHECK(cuMemsetD8Async(memory, 2, 1, blocking));
    CHECK(cuStreamSynchronize(blocking));
    CHECK(cuStreamQuery(blocking)); /* says what the line before said */
    CHECK(cuEventRecord(fork, blocking));
    CHECK(cuCtxSynchronize());
    region_end();
    return 0;
}
