/* Operations that a capture cannot hold: the host reads device memory; managed memory and arrays take part in
 * copies. */
#include "region.h"

int main(void)
{
    char host[256];
    CUdeviceptr managed;
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    region_start();
    const CUdeviceptr memory = region_allocate("memory", 4096);
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuArrayCreate(&array, &shape));
    CHECK(cuMemcpyDtoH(host, memory, 200));
    region_begin("reads");
    CHECK(cuMemsetD8(memory, 0, 16));
    CHECK(cuMemcpyDtoH(host, memory, 100));
    CHECK(cuMemcpyDtoH(host, memory + 1, 100));
    CHECK(cuMemcpyDtoHAsync(host, memory, 101, NULL));
    CHECK(cuMemcpyAsync((CUdeviceptr)host, memory, 102, NULL));
    CHECK(cuMemcpyDtoD(managed, memory, 16));
    CHECK(cuMemcpyDtoD(memory, managed, 16));
    CHECK(cuMemsetD32(managed, 1, 4));
    CHECK(cuMemcpyAsync((CUdeviceptr)host, (CUdeviceptr)(host + 128), 16, NULL));
    CHECK(cuMemcpyDtoA(array, 0, memory, 64));
    const CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = memory,
                                 .srcPitch = 64,
                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .dstArray = array,
                                 .WidthInBytes = 64,
                                 .Height = 1};
    CHECK(cuMemcpy2D(&plane));
    region_end();
    return 0;
}
