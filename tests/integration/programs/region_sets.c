/* Every form of memset in a region; one before it, one after it, and one that fails. */
#include "region.h"

int main(void)
{
    CUstream stream;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD8(memory, 99, 4096));
    region_begin("sets");
    CHECK(cuMemsetD8(memory, 1, 10));
    CHECK(cuMemsetD16(memory + 16, 0x102, 11));
    CHECK(cuMemsetD32(memory + 32, 0x10203, 12));
    CHECK(cuMemsetD2D8(memory, 128, 2, 20, 4));
    CHECK(cuMemsetD2D16(memory, 256, 0x202, 21, 3));
    CHECK(cuMemsetD2D32(memory, 512, 0x20203, 22, 2));
    CHECK(cuMemsetD8Async(memory, 3, 30, stream));
    CHECK(cuMemsetD16Async(memory, 0x302, 31, stream));
    CHECK(cuMemsetD32Async(memory, 0x30203, 32, stream));
    CHECK(cuMemsetD2D8Async(memory, 128, 4, 40, 5, stream));
    CHECK(cuMemsetD2D16Async(memory, 256, 0x402, 41, 4, stream));
    CHECK(cuMemsetD2D32Async(memory, 512, 0x40203, 42, 1, stream));
    if (cuMemsetD8(16, 1, 1) == CUDA_SUCCESS)
        return 1;
    CHECK(cuMemsetD8(memory, 5, 0));
    region_end();
    CHECK(cuMemsetD8(memory, 99, 4096));
    return 0;
}
