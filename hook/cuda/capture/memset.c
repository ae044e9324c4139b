#include "cuda/capture/memset.h"

#include <stdio.h>

#include "cuda/capture/operation.h"
#include "cuda/capture/place.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"
#include "real.h"
#include "special.h"

/* A graph node's value may have more bits than its elements. */
static uint32_t value_of(const struct nb_set *set)
{
    return set->element_bytes < 4 ? set->value & ((1u << 8 * set->element_bytes) - 1) : set->value;
}

uint32_t nb_capture_memset(const struct nb_call *call, struct nb_set set)
{
    const char *what = "host memory";
    if (set.width == 0 || set.height == 0)
        return NB_NOTHING;
    struct nb_extent extent = {.address = set.address, .pitch = set.pitch, .height = set.height, .depth = 1};
    if (__builtin_mul_overflow(set.width, set.element_bytes, &extent.width))
        extent.width = UINT64_MAX;
    if (nb_capture_find_place(&extent, &what) != NB_PLACE_CAPTURED) {
        char reason[160];
        snprintf(reason, sizeof reason, "sets %s, which a capture cannot contain", what);
        nb_capture_refuse(call, reason);
        return NB_NOTHING;
    }
    struct nb_capture_operation operation = {
        .kind = NB_OPERATION_SET,
        .stream = set.graph != 0 ? NB_NOTHING : nb_capture_write_stream(call, set.stream),
        .graph = set.graph,
        .as.set = {.address = set.address,
                   .pitch = set.height > 1 ? set.pitch : 0,
                   .width = set.width,
                   .height = set.height,
                   .value = value_of(&set),
                   .element_bytes = set.element_bytes}};
    return nb_capture_append_operation(&operation, NULL, 0);
}

CUresult nb_through_set_8(const struct nb_call *call, nb_cuMemsetD8_v2_t real, CUdeviceptr dstDevice,
                          unsigned char uc, size_t N)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, uc, N);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, uc, 1, .stream = NULL});
    return result;
}

CUresult nb_through_set_16(const struct nb_call *call, nb_cuMemsetD16_v2_t real, CUdeviceptr dstDevice,
                           unsigned short us, size_t N)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, us, N);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, us, 2, .stream = NULL});
    return result;
}

CUresult nb_through_set_32(const struct nb_call *call, nb_cuMemsetD32_v2_t real, CUdeviceptr dstDevice,
                           unsigned int ui, size_t N)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, ui, N);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, ui, 4, .stream = NULL});
    return result;
}

CUresult nb_through_set_2d_8(const struct nb_call *call, nb_cuMemsetD2D8_v2_t real, CUdeviceptr dstDevice,
                             size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, uc, Width, Height);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, dstPitch, Width, Height, uc, 1, .stream = NULL});
    return result;
}

CUresult nb_through_set_2d_16(const struct nb_call *call, nb_cuMemsetD2D16_v2_t real, CUdeviceptr dstDevice,
                              size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, us, Width, Height);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, dstPitch, Width, Height, us, 2, .stream = NULL});
    return result;
}

CUresult nb_through_set_2d_32(const struct nb_call *call, nb_cuMemsetD2D32_v2_t real, CUdeviceptr dstDevice,
                              size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, dstPitch, ui, Width, Height);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, dstPitch, Width, Height, ui, 4, .stream = NULL});
    return result;
}

CUresult nb_through_set_8_async(const struct nb_call *call, nb_cuMemsetD8Async_t real, CUdeviceptr dstDevice,
                                unsigned char uc, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, uc, N, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, uc, 1, .stream = hStream});
    return result;
}

CUresult nb_through_set_16_async(const struct nb_call *call, nb_cuMemsetD16Async_t real,
                                 CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, us, N, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, us, 2, .stream = hStream});
    return result;
}

CUresult nb_through_set_32_async(const struct nb_call *call, nb_cuMemsetD32Async_t real,
                                 CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, ui, N, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call, (struct nb_set){dstDevice, 0, N, 1, ui, 4, .stream = hStream});
    return result;
}

CUresult nb_through_set_2d_8_async(const struct nb_call *call, nb_cuMemsetD2D8Async_t real,
                                   CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                   size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, uc, Width, Height, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call,
                          (struct nb_set){dstDevice, dstPitch, Width, Height, uc, 1, .stream = hStream});
    return result;
}

CUresult nb_through_set_2d_16_async(const struct nb_call *call, nb_cuMemsetD2D16Async_t real,
                                    CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                    size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, us, Width, Height, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call,
                          (struct nb_set){dstDevice, dstPitch, Width, Height, us, 2, .stream = hStream});
    return result;
}

CUresult nb_through_set_2d_32_async(const struct nb_call *call, nb_cuMemsetD2D32Async_t real,
                                    CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                    size_t Height, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, dstPitch, ui, Width, Height, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_memset(call,
                          (struct nb_set){dstDevice, dstPitch, Width, Height, ui, 4, .stream = hStream});
    return result;
}
