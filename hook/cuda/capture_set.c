/* cuMemset* in a region. */
#include <cuda.h>

#include <stdio.h>

#include "capture.h"
#include "capture_place.h"
#include "real.h"
#include "special.h"

struct fill {
    CUdeviceptr address;
    size_t pitch; /* 0 for one row */
    size_t width, height;
    uint32_t value;
    uint32_t element_bytes;
};

static void record(const struct nb_call *call, CUstream stream, struct fill fill)
{
    const char *what = "host memory";
    if (fill.width == 0 || fill.height == 0)
        return;
    if (nb_capture_place(fill.address, &what) != NB_PLACE_CAPTURED) {
        char reason[160];
        snprintf(reason, sizeof reason, "sets %s, which a capture does not hold", what);
        nb_capture_refuse(call, reason);
        return;
    }
    struct nb_capture_operation operation = {.kind = NB_OPERATION_SET,
                                             .stream = nb_capture_stream(call, stream),
                                             .as.set = {.address = fill.address,
                                                        .pitch = fill.height > 1 ? fill.pitch : 0,
                                                        .width = fill.width,
                                                        .height = fill.height,
                                                        .value = fill.value,
                                                        .element_bytes = fill.element_bytes}};
    nb_capture_operation(&operation, NULL, 0);
}

CUresult nb_through_set_8(const struct nb_call *call, nb_cuMemsetD8_v2_t real, CUdeviceptr dstDevice,
                          unsigned char uc, size_t N)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, uc, N);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, 0, N, 1, uc, 1});
    return result;
}

CUresult nb_through_set_16(const struct nb_call *call, nb_cuMemsetD16_v2_t real, CUdeviceptr dstDevice,
                           unsigned short us, size_t N)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, us, N);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, 0, N, 1, us, 2});
    return result;
}

CUresult nb_through_set_32(const struct nb_call *call, nb_cuMemsetD32_v2_t real, CUdeviceptr dstDevice,
                           unsigned int ui, size_t N)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, ui, N);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, 0, N, 1, ui, 4});
    return result;
}

CUresult nb_through_set_2d_8(const struct nb_call *call, nb_cuMemsetD2D8_v2_t real, CUdeviceptr dstDevice,
                             size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, uc, Width, Height);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, dstPitch, Width, Height, uc, 1});
    return result;
}

CUresult nb_through_set_2d_16(const struct nb_call *call, nb_cuMemsetD2D16_v2_t real, CUdeviceptr dstDevice,
                              size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, us, Width, Height);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, dstPitch, Width, Height, us, 2});
    return result;
}

CUresult nb_through_set_2d_32(const struct nb_call *call, nb_cuMemsetD2D32_v2_t real, CUdeviceptr dstDevice,
                              size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, ui, Width, Height);
    if (recorded && nb_capture_happened(call, result))
        record(call, NULL, (struct fill){dstDevice, dstPitch, Width, Height, ui, 4});
    return result;
}

CUresult nb_through_set_8_async(const struct nb_call *call, nb_cuMemsetD8Async_t real, CUdeviceptr dstDevice,
                                unsigned char uc, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, uc, N, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, 0, N, 1, uc, 1});
    return result;
}

CUresult nb_through_set_16_async(const struct nb_call *call, nb_cuMemsetD16Async_t real,
                                 CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, us, N, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, 0, N, 1, us, 2});
    return result;
}

CUresult nb_through_set_32_async(const struct nb_call *call, nb_cuMemsetD32Async_t real,
                                 CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, ui, N, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, 0, N, 1, ui, 4});
    return result;
}

CUresult nb_through_set_2d_8_async(const struct nb_call *call, nb_cuMemsetD2D8Async_t real,
                                   CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                   size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, uc, Width, Height, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, dstPitch, Width, Height, uc, 1});
    return result;
}

CUresult nb_through_set_2d_16_async(const struct nb_call *call, nb_cuMemsetD2D16Async_t real,
                                    CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                    size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, us, Width, Height, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, dstPitch, Width, Height, us, 2});
    return result;
}

CUresult nb_through_set_2d_32_async(const struct nb_call *call, nb_cuMemsetD2D32Async_t real,
                                    CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                    size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, ui, Width, Height, hStream);
    if (recorded && nb_capture_happened(call, result))
        record(call, hStream, (struct fill){dstDevice, dstPitch, Width, Height, ui, 4});
    return result;
}
