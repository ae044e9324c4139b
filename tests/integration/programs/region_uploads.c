/* Copies from the host: pageable, pinned, strided; each is changed as soon as its call has returned. */
#include <string.h>

#include "region.h"

int main(void)
{
    CUstream stream;
    unsigned char pageable[64], *pinned;
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 65536);
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuMemAllocHost((void **)&pinned, 4096));
    for (int i = 0; i < 4096; i++)
        pinned[i] = (unsigned char)i;
    for (int i = 0; i < 64; i++)
        pageable[i] = (unsigned char)(100 + i);
    region_begin("uploads");
    CHECK(cuMemcpyHtoD(memory, pageable, 64));
    memset(pageable, 0, sizeof pageable);
    CHECK(cuMemcpyHtoDAsync(memory + 64, pinned, 32, stream));
    CHECK(cuMemcpy(memory + 128, (CUdeviceptr)pinned, 16));
    CHECK(cuMemcpyAsync(memory + 256, (CUdeviceptr)(pinned + 1), 16, stream));
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = pinned,
                           .srcPitch = 256,
                           .srcXInBytes = 3,
                           .srcY = 1,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = memory,
                           .dstPitch = 512,
                           .dstXInBytes = 8,
                           .dstY = 2,
                           .WidthInBytes = 5,
                           .Height = 3};
    CHECK(cuMemcpy2D(&plane));
    CHECK(cuMemcpy2DUnaligned(&plane));
    plane.srcMemoryType = plane.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    plane.srcDevice = (CUdeviceptr)pinned;
    CHECK(cuMemcpy2DAsync(&plane, stream));
    CUDA_MEMCPY3D volume = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                            .srcHost = pinned,
                            .srcPitch = 16,
                            .srcHeight = 8,
                            .srcZ = 1,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = memory,
                            .dstPitch = 64,
                            .dstHeight = 4,
                            .dstZ = 2,
                            .WidthInBytes = 4,
                            .Height = 2,
                            .Depth = 2};
    CHECK(cuMemcpy3D(&volume));
    CHECK(cuMemcpy3DAsync(&volume, stream));
    CHECK(cuMemcpyHtoD(memory, pageable, 0));
    region_end();
    return 0;
}
