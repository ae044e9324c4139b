/* HIP's copies between device addresses: each of another width, so that a test can tell them apart. */
#include "hip_region.h"

int main(void)
{
    hipStream_t stream;
    char *from = allocate("from", 65536), *to = allocate("to", 65536);
    CHECK(hipStreamCreate(&stream));
    region_begin("copies");
    CHECK(hipMemcpy(to, from, 100, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpyAsync(to, from + 1, 101, hipMemcpyDefault, stream));
    CHECK(hipMemcpyWithStream(to, from + 2, 102, hipMemcpyDeviceToDevice, stream));
    CHECK(hipMemcpyDtoD(to, from + 3, 103));
    CHECK(hipMemcpyDtoDAsync(to, from + 4, 104, stream));
    CHECK(hipMemcpy_spt(to, from + 5, 105, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy2D(to, 512, from + 6, 256, 16, 3, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy2DAsync(to, 512, from + 7, 256, 17, 3, hipMemcpyDeviceToDevice, stream));
    const hip_Memcpy2D plane = {.srcMemoryType = hipMemoryTypeDevice,
                                .srcDevice = from,
                                .srcPitch = 256,
                                .srcXInBytes = 8,
                                .srcY = 1,
                                .dstMemoryType = hipMemoryTypeDevice,
                                .dstDevice = to,
                                .dstPitch = 512,
                                .WidthInBytes = 18,
                                .Height = 3};
    CHECK(hipMemcpyParam2D(&plane));
    CHECK(hipMemcpyParam2DAsync(&plane, stream));
    CHECK(hipDrvMemcpy2DUnaligned(&plane));
    const struct hipMemcpy3DParms volume = {.srcPtr = {from, 16, 16, 8},
                                            .srcPos = {0, 0, 1},
                                            .dstPtr = {to, 64, 64, 4},
                                            .dstPos = {0, 1, 0},
                                            .extent = {4, 2, 2},
                                            .kind = hipMemcpyDeviceToDevice};
    CHECK(hipMemcpy3D(&volume));
    CHECK(hipMemcpy3DAsync(&volume, stream));
    const HIP_MEMCPY3D driver_volume = {.srcMemoryType = hipMemoryTypeDevice,
                                        .srcDevice = from,
                                        .srcPitch = 16,
                                        .srcHeight = 8,
                                        .srcZ = 1,
                                        .dstMemoryType = hipMemoryTypeDevice,
                                        .dstDevice = to,
                                        .dstPitch = 64,
                                        .dstHeight = 4,
                                        .dstY = 1,
                                        .WidthInBytes = 4,
                                        .Height = 2,
                                        .Depth = 2};
    CHECK(hipDrvMemcpy3D(&driver_volume));
    CHECK(hipDrvMemcpy3DAsync(&driver_volume, stream));
    region_end();
    return 0;
}
