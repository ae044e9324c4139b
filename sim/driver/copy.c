#include "copy.h"

#include "context.h"
#include "memory.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

static bool is_known(uint64_t address)
{
    struct sim_range range;
    return sim_range_find(address, &range);
}

/* What an address of unified addressing is. Page-locked host memory counts as the device's: copies with it
 * need no staging. */
static CUmemorytype settle(uint64_t address, CUmemorytype type)
{
    if (type != CU_MEMORYTYPE_UNIFIED)
        return type;
    return is_known(address) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static bool side_is_valid(uint64_t address, CUmemorytype type, const struct sim_copy *copy, size_t pitch,
                          size_t slice)
{
    if (type == CU_MEMORYTYPE_HOST)
        return address != 0 || copy->width * copy->height * copy->depth == 0;
    if (copy->width * copy->height * copy->depth == 0)
        return true;
    if ((copy->height > 1 && pitch < copy->width))
        return false;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            if (!sim_range_addressable(address + z * slice + y * pitch, copy->width))
                return false;
    return true;
}

static CUresult check(struct sim_copy *copy)
{
    copy->destination_type = settle(copy->destination, copy->destination_type);
    copy->source_type = settle(copy->source, copy->source_type);
    if (!side_is_valid(copy->destination, copy->destination_type, copy, copy->destination_pitch,
                       copy->destination_slice) ||
        !side_is_valid(copy->source, copy->source_type, copy, copy->source_pitch, copy->source_slice))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult sim_copy_linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                         CUmemorytype source_type, size_t bytes, struct sim_copy *copy)
{
    *copy = (struct sim_copy){.destination = destination,
                              .source = source,
                              .width = bytes,
                              .height = 1,
                              .depth = 1,
                              .destination_type = destination_type,
                              .source_type = source_type};
    return check(copy);
}

CUresult sim_copy_3d(const CUDA_MEMCPY3D *p, struct sim_copy *copy)
{
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    const size_t source_pitch = p->srcPitch != 0 ? p->srcPitch : p->WidthInBytes;
    const size_t destination_pitch = p->dstPitch != 0 ? p->dstPitch : p->WidthInBytes;
    const size_t source_slice = source_pitch * (p->srcHeight != 0 ? p->srcHeight : p->Height);
    const size_t destination_slice = destination_pitch * (p->dstHeight != 0 ? p->dstHeight : p->Height);
    const uint64_t source =
        p->srcMemoryType == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)p->srcHost : p->srcDevice;
    const uint64_t destination =
        p->dstMemoryType == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)p->dstHost : p->dstDevice;
    *copy =
        (struct sim_copy){.destination = destination + p->dstZ * destination_slice +
                                         p->dstY * destination_pitch + p->dstXInBytes,
                          .source = source + p->srcZ * source_slice + p->srcY * source_pitch + p->srcXInBytes,
                          .destination_pitch = destination_pitch,
                          .destination_slice = destination_slice,
                          .source_pitch = source_pitch,
                          .source_slice = source_slice,
                          .width = p->WidthInBytes,
                          .height = p->Height,
                          .depth = p->Depth,
                          .destination_type = p->dstMemoryType,
                          .source_type = p->srcMemoryType};
    return check(copy);
}

/* When a call that copies may come back. */
enum return_when {
    RETURN_DONE,  /* copied */
    RETURN_QUEUED /* queued, and the program may change or read host memory as CUDA says it may */
};

static bool is_pageable(uint64_t address, CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST && !is_known(address);
}

/* A pageable source may be changed as soon as an asynchronous copy has returned: keep what it held. */
static bool stage(struct sim_copy *copy)
{
    if (copy->width == 0)
        return true;
    copy->staging = malloc(copy->width);
    if (copy->staging == NULL)
        return false;
    memcpy(copy->staging, (const void *)(uintptr_t)copy->source, copy->width);
    copy->source = (uint64_t)(uintptr_t)copy->staging;
    return true;
}

static CUresult submit(const struct sim_copy *copy, CUstream hStream, bool per_thread, enum return_when when)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_work work = {.kind = SIM_WORK_COPY, .copy = *copy};
    if (when == RETURN_DONE)
        return sim_stream_submit_and_wait(stream, &work);
    const bool linear = copy->height == 1 && copy->depth == 1;
    const bool pageable_source = is_pageable(copy->source, copy->source_type);
    const bool pageable_destination = is_pageable(copy->destination, copy->destination_type);
    if (!sim_stream_is_capturing(stream)) {
        if (pageable_destination || (pageable_source && !linear))
            return sim_stream_submit_and_wait(stream, &work);
        if (pageable_source && !stage(&work.copy))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return sim_stream_submit(stream, &work, NULL);
}

static CUresult linear(uint64_t destination, CUmemorytype destination_type, uint64_t source,
                       CUmemorytype source_type, size_t bytes, CUstream stream, bool per_thread,
                       enum return_when when)
{
    struct sim_context *context;
    struct sim_copy copy;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_copy_linear(destination, destination_type, source, source_type, bytes, &copy);
    return result == CUDA_SUCCESS ? submit(&copy, stream, per_thread, when) : result;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream stream, bool per_thread,
                          enum return_when when)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, (uint64_t)(uintptr_t)from, CU_MEMORYTYPE_HOST, bytes, stream,
                  per_thread, when);
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread,
                        enum return_when when)
{
    return linear((uint64_t)(uintptr_t)to, CU_MEMORYTYPE_HOST, from, CU_MEMORYTYPE_DEVICE, bytes, stream,
                  per_thread, when);
}

static CUresult on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, from, CU_MEMORYTYPE_DEVICE, bytes, stream, per_thread,
                  RETURN_QUEUED);
}

static CUresult anywhere(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread,
                         enum return_when when)
{
    return linear(to, CU_MEMORYTYPE_UNIFIED, from, CU_MEMORYTYPE_UNIFIED, bytes, stream, per_thread, when);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return anywhere(dst, src, ByteCount, NULL, false, RETURN_DONE);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return anywhere(dst, src, ByteCount, NULL, true, RETURN_DONE);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return anywhere(dst, src, ByteCount, hStream, false, RETURN_QUEUED);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return anywhere(dst, src, ByteCount, hStream, true, RETURN_QUEUED);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return to_device(dstDevice, srcHost, ByteCount, NULL, false, RETURN_DONE);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return to_device(dstDevice, srcHost, ByteCount, NULL, true, RETURN_DONE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return to_device(dstDevice, srcHost, ByteCount, hStream, false, RETURN_QUEUED);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                   CUstream hStream)
{
    return to_device(dstDevice, srcHost, ByteCount, hStream, true, RETURN_QUEUED);
}

CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return to_host(dstHost, srcDevice, ByteCount, NULL, false, RETURN_DONE);
}

CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return to_host(dstHost, srcDevice, ByteCount, NULL, true, RETURN_DONE);
}

CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return to_host(dstHost, srcDevice, ByteCount, hStream, false, RETURN_QUEUED);
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return to_host(dstHost, srcDevice, ByteCount, hStream, true, RETURN_QUEUED);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return on_device(dstDevice, srcDevice, ByteCount, NULL, false);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return on_device(dstDevice, srcDevice, ByteCount, NULL, true);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream)
{
    return on_device(dstDevice, srcDevice, ByteCount, hStream, false);
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream)
{
    return on_device(dstDevice, srcDevice, ByteCount, hStream, true);
}

static CUresult volume(const CUDA_MEMCPY3D *parameters, CUstream stream, bool per_thread,
                       enum return_when when)
{
    struct sim_context *context;
    struct sim_copy copy;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_copy_3d(parameters, &copy);
    return result == CUDA_SUCCESS ? submit(&copy, stream, per_thread, when) : result;
}

static CUresult plane(const CUDA_MEMCPY2D *p, CUstream stream, bool per_thread, enum return_when when)
{
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D parameters = {.srcXInBytes = p->srcXInBytes,
                                      .srcY = p->srcY,
                                      .srcMemoryType = p->srcMemoryType,
                                      .srcHost = p->srcHost,
                                      .srcDevice = p->srcDevice,
                                      .srcPitch = p->srcPitch,
                                      .dstXInBytes = p->dstXInBytes,
                                      .dstY = p->dstY,
                                      .dstMemoryType = p->dstMemoryType,
                                      .dstHost = p->dstHost,
                                      .dstDevice = p->dstDevice,
                                      .dstPitch = p->dstPitch,
                                      .WidthInBytes = p->WidthInBytes,
                                      .Height = p->Height,
                                      .Depth = 1};
    return volume(&parameters, stream, per_thread, when);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, false, RETURN_DONE);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, true, RETURN_DONE);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, false, RETURN_DONE);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, true, RETURN_DONE);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return plane(pCopy, hStream, false, RETURN_QUEUED);
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return plane(pCopy, hStream, true, RETURN_QUEUED);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return volume(pCopy, NULL, false, RETURN_DONE);
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *pCopy)
{
    return volume(pCopy, NULL, true, RETURN_DONE);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return volume(pCopy, hStream, false, RETURN_QUEUED);
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return volume(pCopy, hStream, true, RETURN_QUEUED);
}
