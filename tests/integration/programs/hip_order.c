/* The order of HIP's streams: events of each kind, and the host's waits. */
#include "hip_region.h"

int main(void)
{
    hipStream_t first, second;
    hipEvent_t made, made_with_flags;
    char *memory = allocate("memory", 4096);
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    CHECK(hipEventCreate(&made));
    CHECK(hipEventCreateWithFlags(&made_with_flags, hipEventDisableTiming));
    region_begin("order");
    CHECK(hipMemsetAsync(memory, 1, 64, first));
    CHECK(hipEventRecord(made, first));
    CHECK(hipStreamWaitEvent(second, made, 0));
    CHECK(hipMemsetAsync(memory, 2, 64, second));
    CHECK(hipEventRecord(made_with_flags, second));
    CHECK(hipEventSynchronize(made_with_flags));
    CHECK(hipMemsetAsync(memory, 3, 64, first));
    CHECK(hipStreamSynchronize(first));
    CHECK(hipMemsetAsync(memory, 4, 64, hipStreamPerThread));
    CHECK(hipStreamSynchronize_spt(NULL));
    CHECK(hipMemsetAsync(memory, 5, 64, second));
    CHECK(hipDeviceSynchronize());
    region_end();
    CHECK(hipEventDestroy(made));
    CHECK(hipEventDestroy(made_with_flags));
    CHECK(hipStreamDestroy(second));
    return 0;
}
