/* Calls that HIP alone has and no replay can repeat. */
#include "hip_region.h"

static void callback(hipStream_t stream, hipError_t status, void *data)
{
    (void)stream, (void)status, (void)data;
}

int main(void)
{
    hipStream_t partial, plain;
    void *fine;
    const uint32_t mask = 1;
    char *memory = allocate("memory", 4096), *other = allocate("other", 4096);
    CHECK(hipExtStreamCreateWithCUMask(&partial, 1, &mask));
    CHECK(hipStreamCreate(&plain));
    CHECK(hipExtMallocWithFlags(&fine, 4096, hipDeviceMallocFinegrained));
    region_begin("refused");
    CHECK(hipMemsetAsync(memory, 1, 64, plain));
    CHECK(hipMemsetAsync(memory, 2, 64, partial));
    CHECK(hipMemset(fine, 3, 64));
    CHECK(hipMemcpyPeer(other, 0, memory, 0, 64));
    CHECK(hipStreamAddCallback(plain, callback, NULL, 0));
    region_end();
    CHECK(hipStreamDestroy(partial));
    return 0;
}
