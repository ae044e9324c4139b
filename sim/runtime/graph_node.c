/* Nodes of graphs. */
#include "runtime/registry.h"

#include <stdint.h>

_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS) &&
                   offsetof(struct cudaHostNodeParams, userData) ==
                       offsetof(CUDA_HOST_NODE_PARAMS, userData) &&
                   sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1) &&
                   offsetof(struct cudaMemsetParams, height) == offsetof(CUDA_MEMSET_NODE_PARAMS_v1, height),
               "passed on unchanged");

#define ADD_PARAMETERS                                                                                       \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,                    \
        size_t numDependencies
#define ADD_ARGUMENTS pGraphNode, graph, pDependencies, numDependencies

FORWARD(cudaGraphAddEmptyNode, (ADD_PARAMETERS), cuGraphAddEmptyNode, ADD_ARGUMENTS)
FORWARD(cudaGraphAddChildGraphNode, (ADD_PARAMETERS, cudaGraph_t childGraph), cuGraphAddChildGraphNode,
        ADD_ARGUMENTS, childGraph)
FORWARD(cudaGraphAddHostNode, (ADD_PARAMETERS, const struct cudaHostNodeParams *pNodeParams),
        cuGraphAddHostNode, ADD_ARGUMENTS, (const CUDA_HOST_NODE_PARAMS *)(const void *)pNodeParams)
FORWARD(cudaGraphAddEventRecordNode, (ADD_PARAMETERS, cudaEvent_t event), cuGraphAddEventRecordNode,
        ADD_ARGUMENTS, event)
FORWARD(cudaGraphAddEventWaitNode, (ADD_PARAMETERS, cudaEvent_t event), cuGraphAddEventWaitNode,
        ADD_ARGUMENTS, event)
FORWARD(cudaGraphAddMemFreeNode, (ADD_PARAMETERS, void *dptr), cuGraphAddMemFreeNode, ADD_ARGUMENTS,
        (CUdeviceptr)dptr)

FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *pType), cuGraphNodeGetType, node,
        (CUgraphNodeType *)(void *)pType)
FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *pGraph),
        cuGraphChildGraphNodeGetGraph, node, pGraph)
FORWARD(cudaGraphNodeGetDependencies,
        (cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
         size_t *pNumDependencies),
        cuGraphNodeGetDependencies, node, pDependencies, (CUgraphEdgeData *)(void *)edgeData,
        pNumDependencies)
FORWARD(cudaGraphNodeGetDependentNodes,
        (cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
         size_t *pNumDependentNodes),
        cuGraphNodeGetDependentNodes, node, pDependentNodes, (CUgraphEdgeData *)(void *)edgeData,
        pNumDependentNodes)
FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode, node)
FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled),
        cuGraphNodeSetEnabled, hGraphExec, hNode, isEnabled)
FORWARD(cudaGraphNodeGetEnabled, (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int *isEnabled),
        cuGraphNodeGetEnabled, hGraphExec, hNode, isEnabled)

static cudaError_t kernel_parameters(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    CUfunction function;
    if (from == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetFuncBySymbol(&function, from->func);
    if (error == cudaSuccess)
        *to = (CUDA_KERNEL_NODE_PARAMS){.func = function,
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

cudaError_t cudaGraphAddKernelNode(ADD_PARAMETERS, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    const cudaError_t error = kernel_parameters(pNodeParams, &parameters);
    return error == cudaSuccess ? runtime_result(DRIVER(cuGraphAddKernelNode)(ADD_ARGUMENTS, &parameters))
                                : error;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS from;
    READY();
    if (pNodeParams == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuGraphKernelNodeGetParams)(node, &from);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    CUfunction function = from.func;
    if (function == NULL && DRIVER(cuKernelGetFunction)(&function, from.kern) != CUDA_SUCCESS)
        return runtime_error(cudaErrorInvalidDeviceFunction);
    const void *host = runtime_host_kernel(function);
    if (host == NULL)
        return runtime_error(cudaErrorInvalidDeviceFunction); /* added by the driver's own functions */
    *pNodeParams = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)host,
                                                 .gridDim = {from.gridDimX, from.gridDimY, from.gridDimZ},
                                                 .blockDim = {from.blockDimX, from.blockDimY, from.blockDimZ},
                                                 .sharedMemBytes = from.sharedMemBytes,
                                                 .kernelParams = from.kernelParams,
                                                 .extra = from.extra};
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    const cudaError_t error = kernel_parameters(pNodeParams, &parameters);
    return error == cudaSuccess ? runtime_result(DRIVER(cuGraphKernelNodeSetParams)(node, &parameters))
                                : error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    const cudaError_t error = kernel_parameters(pNodeParams, &parameters);
    return error == cudaSuccess
               ? runtime_result(DRIVER(cuGraphExecKernelNodeSetParams)(hGraphExec, node, &parameters))
               : error;
}

/* Memset nodes name the context that they run in. */
cudaError_t cudaGraphAddMemsetNode(ADD_PARAMETERS, const struct cudaMemsetParams *pMemsetParams)
{
    CUcontext context;
    READY();
    CUresult result = DRIVER(cuCtxGetCurrent)(&context);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuGraphAddMemsetNode)(
            ADD_ARGUMENTS, (const CUDA_MEMSET_NODE_PARAMS *)(const void *)pMemsetParams, context);
    return runtime_result(result);
}
