/* Memset nodes. */
#include "hip/graph.h"

static CUDA_MEMSET_NODE_PARAMS to_driver(const hipMemsetParams *from)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = hip_address(from->dst),
                                     .pitch = from->pitch,
                                     .value = from->value,
                                     .elementSize = from->elementSize,
                                     .width = from->width,
                                     .height = from->height};
}

hipError_t hipGraphAddMemsetNode(HIP_ADD_PARAMETERS, const hipMemsetParams *pMemsetParams)
{
    HIP_READY();
    if (pMemsetParams == NULL)
        return hipErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS set = to_driver(pMemsetParams);
    return hip_result(cuGraphAddMemsetNode(HIP_ADD_ARGUMENTS, &set, hip_context()));
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    HIP_READY();
    if (pNodeParams == NULL)
        return hipErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS set = to_driver(pNodeParams);
    return hip_result(cuGraphMemsetNodeSetParams((CUgraphNode)node, &set));
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                           const hipMemsetParams *pNodeParams)
{
    HIP_READY();
    if (pNodeParams == NULL)
        return hipErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS set = to_driver(pNodeParams);
    return hip_result(
        cuGraphExecMemsetNodeSetParams((CUgraphExec)hGraphExec, (CUgraphNode)node, &set, hip_context()));
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams)
{
    CUDA_MEMSET_NODE_PARAMS found;
    HIP_READY();
    if (pNodeParams == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuGraphMemsetNodeGetParams((CUgraphNode)node, &found);
    if (result == CUDA_SUCCESS)
        *pNodeParams = (hipMemsetParams){.dst = (void *)(uintptr_t)found.dst,
                                         .elementSize = found.elementSize,
                                         .height = found.height,
                                         .pitch = found.pitch,
                                         .value = found.value,
                                         .width = found.width};
    return hip_result(result);
}
