/* Copies between one-dimensional arrays, and between these and linear memory, at offsets in bytes. */
#include "driver/memory/array.h"
#include "driver/context/context.h"
#include "driver/copy/copy.h"

/* "offset ... must be evenly divisible by the array element size". For AtoA, both arrays have elements of
 * one size, and ByteCount is a multiple of it (cuda.h). sim_copy_3d checks this and the extents. */
static bool is_row(CUarray handle)
{
    const struct sim_array *array = sim_object_find(handle, SIM_ARRAY);
    return array != NULL && array->rows == 1 && array->slices == 1;
}

static CUresult copy(CUDA_MEMCPY3D *parameters, size_t bytes, CUstream stream, bool per_thread,
                     enum sim_copy_return when)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((parameters->srcMemoryType == CU_MEMORYTYPE_ARRAY && !is_row(parameters->srcArray)) ||
        (parameters->dstMemoryType == CU_MEMORYTYPE_ARRAY && !is_row(parameters->dstArray)))
        return CUDA_ERROR_INVALID_VALUE;
    parameters->WidthInBytes = bytes;
    parameters->Height = parameters->Depth = 1;
    return sim_copy_volume(parameters, stream, per_thread, when);
}

static CUresult to_host(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream, bool per_thread,
                        enum sim_copy_return when)
{
    CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = from,
                                .srcXInBytes = offset,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = to};
    return copy(&parameters, bytes, stream, per_thread, when);
}

static CUresult from_host(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream,
                          bool per_thread, enum sim_copy_return when)
{
    CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = from,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = to,
                                .dstXInBytes = offset};
    return copy(&parameters, bytes, stream, per_thread, when);
}

static CUresult to_device(CUdeviceptr to, CUarray from, size_t offset, size_t bytes, bool per_thread)
{
    CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = from,
                                .srcXInBytes = offset,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = to};
    return copy(&parameters, bytes, NULL, per_thread, SIM_COPY_QUEUED);
}

static CUresult from_device(CUarray to, size_t offset, CUdeviceptr from, size_t bytes, bool per_thread)
{
    CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = to,
                                .dstXInBytes = offset};
    return copy(&parameters, bytes, NULL, per_thread, SIM_COPY_QUEUED);
}

static CUresult between(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes,
                        bool per_thread)
{
    CUDA_MEMCPY3D parameters = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = from,
                                .srcXInBytes = from_offset,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = to,
                                .dstXInBytes = to_offset};
    return copy(&parameters, bytes, NULL, per_thread, SIM_COPY_QUEUED);
}

CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return to_host(dstHost, srcArray, srcOffset, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpyAtoH_v2_ptds(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return to_host(dstHost, srcArray, srcOffset, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                              CUstream hStream)
{
    return to_host(dstHost, srcArray, srcOffset, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                                   CUstream hStream)
{
    return to_host(dstHost, srcArray, srcOffset, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    return from_host(dstArray, dstOffset, srcHost, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    return from_host(dstArray, dstOffset, srcHost, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                              CUstream hStream)
{
    return from_host(dstArray, dstOffset, srcHost, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                   CUstream hStream)
{
    return from_host(dstArray, dstOffset, srcHost, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return to_device(dstDevice, srcArray, srcOffset, ByteCount, false);
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return to_device(dstDevice, srcArray, srcOffset, ByteCount, true);
}

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    return from_device(dstArray, dstOffset, srcDevice, ByteCount, false);
}

CUresult cuMemcpyDtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    return from_device(dstArray, dstOffset, srcDevice, ByteCount, true);
}

CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                         size_t ByteCount)
{
    return between(dstArray, dstOffset, srcArray, srcOffset, ByteCount, false);
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                              size_t ByteCount)
{
    return between(dstArray, dstOffset, srcArray, srcOffset, ByteCount, true);
}
