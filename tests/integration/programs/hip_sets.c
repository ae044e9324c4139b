/* HIP's memsets, each of another width or height. */
#include "hip_region.h"

int main(void)
{
    hipStream_t stream;
    char *memory = allocate("memory", 65536);
    CHECK(hipStreamCreate(&stream));
    const hipPitchedPtr whole = {memory, 64, 64, 4}, part = {memory, 64, 64, 8};
    region_begin("sets");
    CHECK(hipMemset(memory, 0x1234, 100));
    CHECK(hipMemsetAsync(memory, 2, 101, stream));
    CHECK(hipMemset_spt(memory, 3, 102));
    CHECK(hipMemsetD8(memory, 4, 103));
    CHECK(hipMemsetD8Async(memory, 5, 104, stream));
    CHECK(hipMemsetD16(memory, 0x1006, 105));
    CHECK(hipMemsetD16Async(memory, 0x1007, 106, stream));
    CHECK(hipMemsetD32(memory, -8, 107));
    CHECK(hipMemsetD32Async(memory, 9, 108, stream));
    CHECK(hipMemset2D(memory, 256, 10, 109, 3));
    CHECK(hipMemset2DAsync(memory, 256, 11, 110, 4, stream));
    CHECK(hipMemset3D(whole, 12, (hipExtent){16, 4, 3}));
    CHECK(hipMemset3DAsync(part, 13, (hipExtent){17, 4, 2}, stream));
    CHECK(hipMemset3D(part, 14, (hipExtent){17, 0, 2}));
    region_end();
    return 0;
}
