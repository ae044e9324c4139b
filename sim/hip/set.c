/* Memsets of volumes: one plane of rows per slice. */
#include "hip/hip.h"

static hipError_t fill(hipPitchedPtr memory, int value, hipExtent extent, hipStream_t stream)
{
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return hipSuccess;
    if (memory.ysize < extent.height || memory.pitch < extent.width)
        return hipErrorInvalidValue;
    if (memory.ysize == extent.height)
        return hipMemset2DAsync(memory.ptr, memory.pitch, value, extent.width, extent.height * extent.depth,
                                stream);
    hipError_t error = hipSuccess;
    for (size_t z = 0; z < extent.depth && error == hipSuccess; z++)
        error = hipMemset2DAsync((char *)memory.ptr + z * memory.ysize * memory.pitch, memory.pitch, value,
                                 extent.width, extent.height, stream);
    return error;
}

hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    return fill(pitchedDevPtr, value, extent, NULL);
}

hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent, hipStream_t stream)
{
    return fill(pitchedDevPtr, value, extent, stream);
}

hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    return fill(pitchedDevPtr, value, extent, hipStreamPerThread);
}
