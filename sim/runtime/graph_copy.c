/* Copy and fill nodes. They name the context that they run in. */
#include "runtime/copy.h"
#include "runtime/cudart.h"

#include <stdint.h>

#define ADD_PARAMETERS                                                                                       \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,                    \
        size_t numDependencies
#define ADD_ARGUMENTS pGraphNode, graph, pDependencies, numDependencies

/* Adds a node, sets its parameters, or those in an executable graph: the calls differ in nothing else. */
struct target {
    cudaGraphNode_t *added;
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    size_t count;
    cudaGraphExec_t executable;
    cudaGraphNode_t node;
};

#define ADDED    (&(const struct target){ADD_ARGUMENTS, NULL, NULL})
#define CHANGED  (&(const struct target){NULL, NULL, NULL, 0, NULL, node})
#define EXECUTED (&(const struct target){NULL, NULL, NULL, 0, hGraphExec, node})

static cudaError_t put(const struct target *target, cudaError_t error, const CUDA_MEMCPY3D *copy)
{
    CUcontext context;
    if (error != cudaSuccess)
        return error;
    CUresult result = DRIVER(cuCtxGetCurrent)(&context);
    if (result != CUDA_SUCCESS)
        return runtime_result(result);
    if (target->added != NULL)
        result = DRIVER(cuGraphAddMemcpyNode)(target->added, target->graph, target->dependencies,
                                              target->count, copy, context);
    else if (target->executable != NULL)
        result = DRIVER(cuGraphExecMemcpyNodeSetParams)(target->executable, target->node, copy, context);
    else
        result = DRIVER(cuGraphMemcpyNodeSetParams)(target->node, copy);
    return runtime_result(result);
}

static cudaError_t put_box(const struct target *target, const struct cudaMemcpy3DParms *box)
{
    CUDA_MEMCPY3D copy;
    READY();
    return put(target, copy_describe_box(box, &copy), &copy);
}

static cudaError_t put_line(const struct target *target, void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind)
{
    READY();
    if ((unsigned)kind > cudaMemcpyDefault)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = (CUdeviceptr)(uintptr_t)from,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstDevice = (CUdeviceptr)(uintptr_t)to,
                                .WidthInBytes = bytes,
                                .Height = 1,
                                .Depth = 1};
    return put(target, cudaSuccess, &copy);
}

static cudaError_t put_to_symbol(const struct target *target, const void *symbol, const void *from,
                                 size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *part = NULL;
    const cudaError_t error = copy_symbol_part(symbol, offset, bytes, &part);
    return error == cudaSuccess ? put_line(target, part, from, bytes, kind) : error;
}

static cudaError_t put_from_symbol(const struct target *target, void *to, const void *symbol, size_t bytes,
                                   size_t offset, enum cudaMemcpyKind kind)
{
    void *part = NULL;
    const cudaError_t error = copy_symbol_part(symbol, offset, bytes, &part);
    return error == cudaSuccess ? put_line(target, to, part, bytes, kind) : error;
}

cudaError_t cudaGraphAddMemcpyNode(ADD_PARAMETERS, const struct cudaMemcpy3DParms *pCopyParams)
{
    return put_box(ADDED, pCopyParams);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    READY();
    if (pNodeParams == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuGraphMemcpyNodeGetParams)(node, &copy);
    return result == CUDA_SUCCESS ? copy_box_of(&copy, pNodeParams) : runtime_result(result);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams)
{
    return put_box(CHANGED, pNodeParams);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    return put_box(EXECUTED, pNodeParams);
}

cudaError_t cudaGraphAddMemcpyNode1D(ADD_PARAMETERS, void *dst, const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    return put_line(ADDED, dst, src, count, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                           enum cudaMemcpyKind kind)
{
    return put_line(CHANGED, dst, src, count, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                               const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return put_line(EXECUTED, dst, src, count, kind);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(ADD_PARAMETERS, const void *symbol, const void *src, size_t count,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    return put_to_symbol(ADDED, symbol, src, count, offset, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                 size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return put_to_symbol(CHANGED, symbol, src, count, offset, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const void *symbol, const void *src, size_t count,
                                                     size_t offset, enum cudaMemcpyKind kind)
{
    return put_to_symbol(EXECUTED, symbol, src, count, offset, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(ADD_PARAMETERS, void *dst, const void *symbol, size_t count,
                                             size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(ADDED, dst, symbol, count, offset, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol,
                                                   size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(CHANGED, dst, symbol, count, offset, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                       void *dst, const void *symbol, size_t count,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    return put_from_symbol(EXECUTED, dst, symbol, count, offset, kind);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    CUcontext context;
    READY();
    CUresult result = DRIVER(cuCtxGetCurrent)(&context);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuGraphExecMemsetNodeSetParams)(
            hGraphExec, node, (const CUDA_MEMSET_NODE_PARAMS *)(const void *)pNodeParams, context);
    return runtime_result(result);
}
