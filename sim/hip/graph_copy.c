/* Copy nodes: HIP's three forms are one in CUDA's driver. */
#include "hip/graph.h"
#include "hip/volume.h"

hipError_t hipGraphAddMemcpyNode(HIP_ADD_PARAMETERS, const hipMemcpy3DParms *pCopyParams)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume_runtime(pCopyParams, &volume);
    return error == hipSuccess ? hip_result(cuGraphAddMemcpyNode(HIP_ADD_ARGUMENTS, &volume, hip_context()))
                               : error;
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume_runtime(pNodeParams, &volume);
    return error == hipSuccess ? hip_result(cuGraphMemcpyNodeSetParams((CUgraphNode)node, &volume)) : error;
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                           hipMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume_runtime(pNodeParams, &volume);
    return error == hipSuccess ? hip_result(cuGraphExecMemcpyNodeSetParams(
                                     (CUgraphExec)hGraphExec, (CUgraphNode)node, &volume, hip_context()))
                               : error;
}

static void *side(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
}

static hipMemcpyKind direction(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return hipMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D found;
    HIP_READY();
    if (pNodeParams == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuGraphMemcpyNodeGetParams((CUgraphNode)node, &found);
    if (result == CUDA_SUCCESS)
        *pNodeParams =
            (hipMemcpy3DParms){.srcPos = {found.srcXInBytes, found.srcY, found.srcZ},
                               .srcPtr = {side(found.srcMemoryType, found.srcHost, found.srcDevice),
                                          found.srcPitch, found.srcPitch, found.srcHeight},
                               .dstPos = {found.dstXInBytes, found.dstY, found.dstZ},
                               .dstPtr = {side(found.dstMemoryType, found.dstHost, found.dstDevice),
                                          found.dstPitch, found.dstPitch, found.dstHeight},
                               .extent = {found.WidthInBytes, found.Height, found.Depth},
                               .kind = direction(found.srcMemoryType, found.dstMemoryType)};
    return hip_result(result);
}

static hipError_t line(void *to, const void *from, size_t bytes, hipMemcpyKind kind, CUDA_MEMCPY3D *volume)
{
    if (to == NULL || from == NULL)
        return hipErrorInvalidValue;
    const hipMemcpy3DParms copy = {.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                   .dstPtr = {to, bytes, bytes, 1},
                                   .extent = {bytes, 1, 1},
                                   .kind = kind};
    return hip_volume_runtime(&copy, volume);
}

hipError_t hipGraphAddMemcpyNode1D(HIP_ADD_PARAMETERS, void *dst, const void *src, size_t count,
                                   hipMemcpyKind kind)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = line(dst, src, count, kind, &volume);
    return error == hipSuccess ? hip_result(cuGraphAddMemcpyNode(HIP_ADD_ARGUMENTS, &volume, hip_context()))
                               : error;
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *dst, const void *src, size_t count,
                                         hipMemcpyKind kind)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = line(dst, src, count, kind, &volume);
    return error == hipSuccess ? hip_result(cuGraphMemcpyNodeSetParams((CUgraphNode)node, &volume)) : error;
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
                                             const void *src, size_t count, hipMemcpyKind kind)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = line(dst, src, count, kind, &volume);
    return error == hipSuccess ? hip_result(cuGraphExecMemcpyNodeSetParams(
                                     (CUgraphExec)hGraphExec, (CUgraphNode)node, &volume, hip_context()))
                               : error;
}
