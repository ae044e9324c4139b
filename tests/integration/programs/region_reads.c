/* Three regions: managed memory and arrays take part in copies; the host reads device memory in every form;
 * the host reads too much. */
#include <string.h>

#include "region.h"

static void use_foreign_memory(CUdeviceptr memory)
{
    char host[256];
    CUdeviceptr managed;
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuArrayCreate(&array, &shape));
    region_begin("foreign");
    CHECK(cuMemsetD8(memory, 0, 16));
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
    CHECK(cuArrayDestroy(array));
    CHECK(cuMemFree(managed));
}

static void read_in_every_form(CUdeviceptr memory, CUdeviceptr other)
{
    char pageable[4096], *pinned;
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocHost((void **)&pinned, 4096));
    region_begin("reads");
    CHECK(cuMemsetD8(other, 1, 16));
    CHECK(cuMemcpyDtoH(pageable, memory + 1, 100));
    memset(pageable, 0, sizeof pageable);
    CHECK(cuMemcpyDtoHAsync(pageable, memory + 2, 101, stream));
    CHECK(cuMemcpyDtoHAsync(pinned, memory + 3, 102, stream));
    memset(pinned, 0, 4096);
    CHECK(cuMemcpyAsync((CUdeviceptr)pinned, memory + 4, 103, NULL));
    const CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = memory,
                                 .srcPitch = 64,
                                 .srcXInBytes = 3,
                                 .srcY = 1,
                                 .dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = pageable,
                                 .dstPitch = 100,
                                 .dstXInBytes = 2,
                                 .WidthInBytes = 5,
                                 .Height = 3};
    CHECK(cuMemcpy2D(&plane));
    const CUDA_MEMCPY3D volume = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = memory,
                                  .srcPitch = 16,
                                  .srcHeight = 8,
                                  .dstMemoryType = CU_MEMORYTYPE_HOST,
                                  .dstHost = pinned,
                                  .dstPitch = 32,
                                  .dstHeight = 4,
                                  .WidthInBytes = 4,
                                  .Height = 2,
                                  .Depth = 2};
    CHECK(cuMemcpy3DAsync(&volume, stream));
    CHECK(cuMemcpyDtoH(pageable, memory, 0));
    CHECK(cuMemsetD8(other, 2, 16));
    region_end();
}

static void read_too_much(CUdeviceptr memory)
{
    enum { LARGE = (64 << 10) + 1 };
    static char host[LARGE];
    CUdeviceptr large;
    CHECK(cuMemAlloc(&large, LARGE));
    region_begin("too much");
    CHECK(cuMemcpyDtoH(host, large, LARGE));
    for (int i = 0; i < 257; i++)
        CHECK(cuMemcpyDtoH(host, memory, 1));
    CHECK(cuMemsetD8(memory, 0, 16));
    region_end();
}

int main(void)
{
    unsigned char bytes[4096];
    region_start();
    const CUdeviceptr memory = region_allocate("memory", sizeof bytes);
    const CUdeviceptr other = region_allocate("other", 4096);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 251);
    use_foreign_memory(memory);
    CHECK(cuMemcpyHtoD(memory, bytes, sizeof bytes));
    read_in_every_form(memory, other);
    read_too_much(memory);
    return 0;
}
