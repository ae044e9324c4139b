/* Copies between contexts. All contexts are on one device, so only the order of work matters. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"
#include "driver/stream/stream.h"

/* A synchronous copy waits for all work of both contexts: "serialized with respect to all pending and future
 * asynchronous work in to the current device, srcDevice, and dstDevice" (cuda_runtime_api.h). */
static CUresult enter_both(CUcontext destination, CUcontext source, enum sim_copy_return when)
{
    struct sim_context *current;
    struct sim_context *contexts[2];
    CUresult result = sim_enter(&current);
    if (result != CUDA_SUCCESS)
        return result;
    if (destination == NULL || source == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    result = sim_enter_with(destination, &contexts[0]);
    if (result == CUDA_SUCCESS)
        result = sim_enter_with(source, &contexts[1]);
    for (size_t i = 0; i < 2 && result == CUDA_SUCCESS && when == SIM_COPY_DONE; i++)
        if (contexts[i] != current)
            result = sim_context_synchronize(contexts[i]);
    return result;
}

/* A copy within the current context does not wait, like cuMemcpyDtoD. */
static bool is_within_current_context(CUcontext destination, CUcontext source)
{
    const void *current = sim_context_current();
    return (const void *)destination == current && (const void *)source == current;
}

static CUresult row(CUdeviceptr to, CUcontext destination, CUdeviceptr from, CUcontext source, size_t bytes,
                    CUstream stream, bool per_thread, enum sim_copy_return when)
{
    struct sim_copy copy;
    CUresult result = enter_both(destination, source, when);
    if (result == CUDA_SUCCESS)
        result = sim_copy_linear(to, CU_MEMORYTYPE_DEVICE, from, CU_MEMORYTYPE_DEVICE, bytes, &copy);
    if (result == CUDA_SUCCESS && when == SIM_COPY_DONE && is_within_current_context(destination, source))
        when = SIM_COPY_QUEUED;
    return result == CUDA_SUCCESS ? sim_copy_submit(&copy, stream, per_thread, when) : result;
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount)
{
    return row(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount)
{
    return row(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    return row(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    return row(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true, SIM_COPY_QUEUED);
}

/* An array belongs to its own context (cuda.h). Host memory belongs to none. */
static CUcontext context_of(CUmemorytype type, CUcontext named)
{
    return type == CU_MEMORYTYPE_ARRAY || type == CU_MEMORYTYPE_HOST ? (CUcontext)sim_context_current()
                                                                     : named;
}

static CUresult volume(const CUDA_MEMCPY3D_PEER *p, CUstream stream, bool per_thread,
                       enum sim_copy_return when)
{
    struct sim_context *current;
    CUresult result = sim_enter(&current);
    if (result != CUDA_SUCCESS)
        return result;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = enter_both(context_of(p->dstMemoryType, p->dstContext),
                        context_of(p->srcMemoryType, p->srcContext), when);
    if (result != CUDA_SUCCESS)
        return result;
    const CUDA_MEMCPY3D parameters = {.srcXInBytes = p->srcXInBytes,
                                      .srcY = p->srcY,
                                      .srcZ = p->srcZ,
                                      .srcLOD = p->srcLOD,
                                      .srcMemoryType = p->srcMemoryType,
                                      .srcHost = p->srcHost,
                                      .srcDevice = p->srcDevice,
                                      .srcArray = p->srcArray,
                                      .srcPitch = p->srcPitch,
                                      .srcHeight = p->srcHeight,
                                      .dstXInBytes = p->dstXInBytes,
                                      .dstY = p->dstY,
                                      .dstZ = p->dstZ,
                                      .dstLOD = p->dstLOD,
                                      .dstMemoryType = p->dstMemoryType,
                                      .dstHost = p->dstHost,
                                      .dstDevice = p->dstDevice,
                                      .dstArray = p->dstArray,
                                      .dstPitch = p->dstPitch,
                                      .dstHeight = p->dstHeight,
                                      .WidthInBytes = p->WidthInBytes,
                                      .Height = p->Height,
                                      .Depth = p->Depth};
    return sim_copy_volume(&parameters, stream, per_thread, when);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return volume(pCopy, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *pCopy)
{
    return volume(pCopy, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return volume(pCopy, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return volume(pCopy, hStream, true, SIM_COPY_QUEUED);
}
