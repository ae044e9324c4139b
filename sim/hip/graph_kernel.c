/* Kernel nodes. A kernel is a host address that hipcc's start-up code registered, or, since ROCm 5.3, a
 * function of a module. */
#include "hip/graph.h"
#include "hip/kernel.h"

static hipError_t to_driver(const hipKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to,
                            struct hip_extra *extra)
{
    CUfunction function;
    if (from == NULL)
        return hipErrorInvalidValue;
    const bool listed = from->kernelParams != NULL || from->extra == NULL;
    hipError_t error = hip_kernel(from->func, &function);
    if (error == hipSuccess && !listed)
        error = hip_extra(function, from->extra, extra);
    if (error != hipSuccess)
        return error;
    *to = (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                    .gridDimX = from->gridDim.x,
                                    .gridDimY = from->gridDim.y,
                                    .gridDimZ = from->gridDim.z,
                                    .blockDimX = from->blockDim.x,
                                    .blockDimY = from->blockDim.y,
                                    .blockDimZ = from->blockDim.z,
                                    .sharedMemBytes = from->sharedMemBytes,
                                    .kernelParams = from->kernelParams,
                                    .extra = listed ? NULL : extra->words};
    return hipSuccess;
}

hipError_t hipGraphAddKernelNode(HIP_ADD_PARAMETERS, const hipKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    struct hip_extra extra;
    HIP_READY();
    const hipError_t error = to_driver(pNodeParams, &parameters, &extra);
    return error == hipSuccess ? hip_result(cuGraphAddKernelNode(HIP_ADD_ARGUMENTS, &parameters)) : error;
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    struct hip_extra extra;
    HIP_READY();
    const hipError_t error = to_driver(pNodeParams, &parameters, &extra);
    return error == hipSuccess ? hip_result(cuGraphKernelNodeSetParams((CUgraphNode)node, &parameters))
                               : error;
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                           const hipKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    struct hip_extra extra;
    HIP_READY();
    const hipError_t error = to_driver(pNodeParams, &parameters, &extra);
    return error == hipSuccess ? hip_result(cuGraphExecKernelNodeSetParams((CUgraphExec)hGraphExec,
                                                                           (CUgraphNode)node, &parameters))
                               : error;
}

/* Returns the driver's function, which the functions above accept. The driver keeps arguments as a list,
 * whatever form they came in. */
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS found;
    HIP_READY();
    if (pNodeParams == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuGraphKernelNodeGetParams((CUgraphNode)node, &found);
    if (result == CUDA_SUCCESS)
        *pNodeParams = (hipKernelNodeParams){.func = found.func,
                                             .gridDim = {found.gridDimX, found.gridDimY, found.gridDimZ},
                                             .blockDim = {found.blockDimX, found.blockDimY, found.blockDimZ},
                                             .sharedMemBytes = found.sharedMemBytes,
                                             .kernelParams = found.kernelParams};
    return hip_result(result);
}
