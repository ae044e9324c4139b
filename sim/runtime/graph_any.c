/* Nodes of any kind, with their parameters in one union. */
#include "runtime/copy.h"
#include "runtime/registry.h"

#include <stdint.h>

_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams) &&
                   offsetof(struct cudaGraphNodeParams, alloc) == offsetof(CUgraphNodeParams, alloc) &&
                   offsetof(struct cudaGraphNodeParams, conditional.phGraph_out) ==
                       offsetof(CUgraphNodeParams, conditional.phGraph_out) &&
                   sizeof(struct cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2) &&
                   (int)cudaGraphNodeTypeConditional == (int)CU_GRAPH_NODE_TYPE_CONDITIONAL,
               "members that are not converted are passed on unchanged");

static cudaError_t convert_kernel(const struct cudaKernelNodeParamsV2 *from, CUDA_KERNEL_NODE_PARAMS_v3 *to)
{
    CUfunction function;
    const cudaError_t error = cudaGetFuncBySymbol(&function, from->func);
    *to = (CUDA_KERNEL_NODE_PARAMS_v3){.func = error == cudaSuccess ? function : NULL,
                                       .gridDimX = from->gridDim.x,
                                       .gridDimY = from->gridDim.y,
                                       .gridDimZ = from->gridDim.z,
                                       .blockDimX = from->blockDim.x,
                                       .blockDimY = from->blockDim.y,
                                       .blockDimZ = from->blockDim.z,
                                       .sharedMemBytes = from->sharedMemBytes,
                                       .kernelParams = from->kernelParams,
                                       .extra = from->extra};
    return error;
}

static cudaError_t convert(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
    CUcontext context;
    if (from == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuCtxGetCurrent)(&context);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    __builtin_memcpy(to, from, sizeof *to);
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        return convert_kernel(&from->kernel, &to->kernel);
    case cudaGraphNodeTypeMemcpy:
        __builtin_memset(&to->memcpy, 0, sizeof to->memcpy);
        to->memcpy.flags = from->memcpy.flags;
        to->memcpy.copyCtx = context;
        return copy_describe_box(&from->memcpy.copyParams, &to->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to->memset.ctx = context;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to->conditional.ctx = context;
        return cudaSuccess;
    default:
        return cudaSuccess;
    }
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies, const cudaGraphEdgeData *dependencyData,
                             size_t numDependencies, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams parameters;
    READY();
    const cudaError_t error = convert(nodeParams, &parameters);
    if (error != cudaSuccess)
        return error;
    const CUresult result = DRIVER(cuGraphAddNode)(pGraphNode, graph, pDependencies,
                                                   (const CUgraphEdgeData *)(const void *)dependencyData,
                                                   numDependencies, &parameters);
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeMemAlloc)
        nodeParams->alloc.dptr = (void *)(uintptr_t)parameters.alloc.dptr;
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeConditional)
        nodeParams->conditional.phGraph_out = parameters.conditional.phGraph_out;
    return runtime_result(result);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams parameters;
    READY();
    const cudaError_t error = convert(nodeParams, &parameters);
    return error == cudaSuccess ? runtime_result(DRIVER(cuGraphNodeSetParams)(node, &parameters)) : error;
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams parameters;
    READY();
    const cudaError_t error = convert(nodeParams, &parameters);
    return error == cudaSuccess
               ? runtime_result(DRIVER(cuGraphExecNodeSetParams)(graphExec, node, &parameters))
               : error;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                             unsigned int defaultLaunchValue, unsigned int flags)
{
    CUcontext context;
    READY();
    CUresult result = DRIVER(cuCtxGetCurrent)(&context);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuGraphConditionalHandleCreate)((CUgraphConditionalHandle *)(void *)pHandle_out,
                                                        graph, context, defaultLaunchValue, flags);
    return runtime_result(result);
}
