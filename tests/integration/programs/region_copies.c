/* Copies from device memory to device memory. */
#include "region.h"

int main(void)
{
    CUstream stream;
    region_start();
    const CUdeviceptr from = region_allocate("from", 65536), to = region_allocate("to", 65536);
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    region_begin("copies");
    CHECK(cuMemcpyDtoD(to, from, 100));
    CHECK(cuMemcpyDtoDAsync(to, from + 1, 101, stream));
    CHECK(cuMemcpy(to, from + 2, 102));
    CHECK(cuMemcpyAsync(to, from + 3, 103, stream));
    const CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = from,
                                 .srcPitch = 256,
                                 .srcXInBytes = 3,
                                 .srcY = 1,
                                 .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                 .dstDevice = to,
                                 .dstPitch = 512,
                                 .WidthInBytes = 5,
                                 .Height = 3};
    CHECK(cuMemcpy2D(&plane));
    const CUDA_MEMCPY3D volume = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = from,
                                  .srcPitch = 16,
                                  .srcHeight = 8,
                                  .srcZ = 1,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = to,
                                  .dstPitch = 64,
                                  .dstHeight = 4,
                                  .dstY = 1,
                                  .WidthInBytes = 4,
                                  .Height = 2,
                                  .Depth = 2};
    CHECK(cuMemcpy3DAsync(&volume, stream));
    region_end();
    return 0;
}
