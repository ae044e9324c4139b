/* Copy nodes from and to linked-in globals: plain copies with the globals' addresses. */
#include "hip/graph.h"

static hipError_t place(const void *symbol, size_t count, size_t offset, void **address)
{
    void *begin;
    size_t bytes;
    hipError_t error = hipGetSymbolAddress(&begin, symbol);
    if (error == hipSuccess)
        error = hipGetSymbolSize(&bytes, symbol);
    if (error == hipSuccess && (offset > bytes || count > bytes - offset))
        error = hipErrorInvalidValue;
    if (error == hipSuccess)
        *address = (char *)begin + offset;
    return error;
}

hipError_t hipGraphAddMemcpyNodeToSymbol(HIP_ADD_PARAMETERS, const void *symbol, const void *src,
                                         size_t count, size_t offset, hipMemcpyKind kind)
{
    void *to;
    const hipError_t error = place(symbol, count, offset, &to);
    return error == hipSuccess ? hipGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies,
                                                         to, src, count, kind)
                               : error;
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol, const void *src,
                                               size_t count, size_t offset, hipMemcpyKind kind)
{
    void *to;
    const hipError_t error = place(symbol, count, offset, &to);
    return error == hipSuccess ? hipGraphMemcpyNodeSetParams1D(node, to, src, count, kind) : error;
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                   const void *symbol, const void *src, size_t count,
                                                   size_t offset, hipMemcpyKind kind)
{
    void *to;
    const hipError_t error = place(symbol, count, offset, &to);
    return error == hipSuccess ? hipGraphExecMemcpyNodeSetParams1D(hGraphExec, node, to, src, count, kind)
                               : error;
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(HIP_ADD_PARAMETERS, void *dst, const void *symbol, size_t count,
                                           size_t offset, hipMemcpyKind kind)
{
    void *from;
    const hipError_t error = place(symbol, count, offset, &from);
    return error == hipSuccess ? hipGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies,
                                                         dst, from, count, kind)
                               : error;
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *dst, const void *symbol,
                                                 size_t count, size_t offset, hipMemcpyKind kind)
{
    void *from;
    const hipError_t error = place(symbol, count, offset, &from);
    return error == hipSuccess ? hipGraphMemcpyNodeSetParams1D(node, dst, from, count, kind) : error;
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                     void *dst, const void *symbol, size_t count,
                                                     size_t offset, hipMemcpyKind kind)
{
    void *from;
    const hipError_t error = place(symbol, count, offset, &from);
    return error == hipSuccess ? hipGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, from, count, kind)
                               : error;
}
