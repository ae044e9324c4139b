/* Prefetches and advice about managed memory: there is one memory here, so that a valid hint has nothing to
 * do but keep its place in the stream. */
#include "capture.h"
#include "context.h"
#include "range.h"
#include "stream.h"

static CUresult check(CUdeviceptr address, size_t bytes)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const bool managed = sim_range_find(address, &range) && range.kind == SIM_MEMORY_MANAGED;
    return managed && bytes != 0 && bytes <= range.end - address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = check(address, bytes);
    if (result == CUDA_SUCCESS)
        result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS || !sim_stream_is_capturing(stream))
        return result;
    sim_capture_spoil(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    (void)dstDevice;
    return prefetch(devPtr, count, hStream, false);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    (void)dstDevice;
    return prefetch(devPtr, count, hStream, true);
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    (void)advice;
    (void)device;
    return check(devPtr, count);
}

#if CUDA_VERSION >= 12020
CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream)
{
    (void)location;
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(devPtr, count, hStream, false);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream)
{
    (void)location;
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(devPtr, count, hStream, true);
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    (void)advice;
    (void)location;
    return check(devPtr, count);
}
#endif
