/* cuMemcpy2D and cuMemcpy3D. */
#include "driver/copy/copy.h"

static CUresult plane(const CUDA_MEMCPY2D *p, CUstream stream, bool per_thread, enum sim_copy_return when)
{
    if (p == NULL)
        return sim_copy_volume(NULL, stream, per_thread, when);
    const CUDA_MEMCPY3D parameters = {.srcXInBytes = p->srcXInBytes,
                                      .srcY = p->srcY,
                                      .srcMemoryType = p->srcMemoryType,
                                      .srcHost = p->srcHost,
                                      .srcDevice = p->srcDevice,
                                      .srcArray = p->srcArray,
                                      .srcPitch = p->srcPitch,
                                      .dstXInBytes = p->dstXInBytes,
                                      .dstY = p->dstY,
                                      .dstMemoryType = p->dstMemoryType,
                                      .dstHost = p->dstHost,
                                      .dstDevice = p->dstDevice,
                                      .dstArray = p->dstArray,
                                      .dstPitch = p->dstPitch,
                                      .WidthInBytes = p->WidthInBytes,
                                      .Height = p->Height,
                                      .Depth = 1};
    return sim_copy_volume(&parameters, stream, per_thread, when);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return plane(pCopy, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return plane(pCopy, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return plane(pCopy, hStream, true, SIM_COPY_QUEUED);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return sim_copy_volume(pCopy, NULL, false, SIM_COPY_DONE);
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *pCopy)
{
    return sim_copy_volume(pCopy, NULL, true, SIM_COPY_DONE);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return sim_copy_volume(pCopy, hStream, false, SIM_COPY_QUEUED);
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return sim_copy_volume(pCopy, hStream, true, SIM_COPY_QUEUED);
}
