/* Hooks of HIP's memsets whose parameters differ from CUDA's. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "cuda/capture/memset.h"
#include "cuda/capture/operation.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"

/* A memset of bytes: the lowest byte of `value`. */
static struct nb_set rows_of_bytes(const void *address, size_t pitch, int value, size_t width, size_t height,
                                   hipStream_t stream)
{
    return (struct nb_set){.address = nb_address(address),
                           .pitch = pitch,
                           .width = width,
                           .height = height,
                           .value = (uint32_t)value,
                           .element_bytes = 1,
                           .stream = (CUstream)stream};
}

static hipError_t were_set(const struct nb_call *call, bool announced, hipError_t result, struct nb_set set)
{
    if (nb_capture_is_accepted(announced, (CUresult)result))
        nb_capture_memset(call, set);
    return result;
}

/* Records one memset per slice, or a single one if all rows have the same distance. */
static hipError_t slices_were_set(const struct nb_call *call, bool announced, hipError_t result,
                                  hipPitchedPtr memory, int value, hipExtent extent, hipStream_t stream)
{
    const bool is_one = extent.height == memory.ysize;
    const size_t slices = extent.width == 0 || extent.height == 0 ? 0
                          : is_one                                ? extent.depth != 0
                                                                  : extent.depth;
    for (size_t slice = 0; slice < slices && result == hipSuccess; slice++)
        were_set(call, announced, result,
                 rows_of_bytes((const char *)memory.ptr + slice * memory.pitch * memory.ysize, memory.pitch,
                               value, extent.width, is_one ? extent.height * extent.depth : extent.height,
                               stream));
    return result;
}

hipError_t nb_wrap_when_recording_hip_set(const struct nb_call *call, nb_hipMemset_t real, void *dst,
                                          int value, size_t sizeBytes)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(dst, value, sizeBytes);
    return were_set(call, announced, result, rows_of_bytes(dst, 0, value, sizeBytes, 1, NULL));
}

hipError_t nb_wrap_when_recording_hip_set_async(const struct nb_call *call, nb_hipMemsetAsync_t real,
                                                void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, value, sizeBytes, stream);
    return were_set(call, announced, result, rows_of_bytes(dst, 0, value, sizeBytes, 1, stream));
}

hipError_t nb_wrap_when_recording_hip_set_rows(const struct nb_call *call, nb_hipMemset2D_t real, void *dst,
                                               size_t pitch, int value, size_t width, size_t height)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(dst, pitch, value, width, height);
    return were_set(call, announced, result, rows_of_bytes(dst, pitch, value, width, height, NULL));
}

hipError_t nb_wrap_when_recording_hip_set_rows_async(const struct nb_call *call, nb_hipMemset2DAsync_t real,
                                                     void *dst, size_t pitch, int value, size_t width,
                                                     size_t height, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, pitch, value, width, height, stream);
    return were_set(call, announced, result, rows_of_bytes(dst, pitch, value, width, height, stream));
}

hipError_t nb_wrap_when_recording_hip_set_volume(const struct nb_call *call, nb_hipMemset3D_t real,
                                                 hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(pitchedDevPtr, value, extent);
    return slices_were_set(call, announced, result, pitchedDevPtr, value, extent, NULL);
}

hipError_t nb_wrap_when_recording_hip_set_volume_async(const struct nb_call *call, nb_hipMemset3DAsync_t real,
                                                       hipPitchedPtr pitchedDevPtr, int value,
                                                       hipExtent extent, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(pitchedDevPtr, value, extent, stream);
    return slices_were_set(call, announced, result, pitchedDevPtr, value, extent, stream);
}
