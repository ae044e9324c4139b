/* Graphs, edges and executable graphs whose CUDA functions take more parameters. */
#include "hip/graph.h"

_Static_assert((int)hipGraphExecUpdateErrorUnsupportedFunctionChange ==
                   (int)CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
               "numbers are handed on as they are");

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                   size_t numDependencies)
{
    return hip_result(cudaGraphAddDependencies((CUgraph)graph, (const CUgraphNode *)from,
                                               (const CUgraphNode *)to, NULL, numDependencies));
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                      size_t numDependencies)
{
    return hip_result(cudaGraphRemoveDependencies((CUgraph)graph, (const CUgraphNode *)from,
                                                  (const CUgraphNode *)to, NULL, numDependencies));
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *numEdges)
{
    return hip_result(
        cudaGraphGetEdges((CUgraph)graph, (CUgraphNode *)from, (CUgraphNode *)to, NULL, numEdges));
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies,
                                       size_t *pNumDependencies)
{
    return hip_result(cudaGraphNodeGetDependencies((CUgraphNode)node, (CUgraphNode *)pDependencies, NULL,
                                                   pNumDependencies));
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
                                         size_t *pNumDependentNodes)
{
    return hip_result(cudaGraphNodeGetDependentNodes((CUgraphNode)node, (CUgraphNode *)pDependentNodes, NULL,
                                                     pNumDependentNodes));
}

/* One-dimensional copies and copies of symbols are plain copies here; AMD's runtime has types for them. */
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType)
{
    static const hipGraphNodeType types[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = hipGraphNodeTypeKernel,
        [CU_GRAPH_NODE_TYPE_MEMCPY] = hipGraphNodeTypeMemcpy,
        [CU_GRAPH_NODE_TYPE_MEMSET] = hipGraphNodeTypeMemset,
        [CU_GRAPH_NODE_TYPE_HOST] = hipGraphNodeTypeHost,
        [CU_GRAPH_NODE_TYPE_GRAPH] = hipGraphNodeTypeGraph,
        [CU_GRAPH_NODE_TYPE_EMPTY] = hipGraphNodeTypeEmpty,
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = hipGraphNodeTypeWaitEvent,
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = hipGraphNodeTypeEventRecord,
    };
    CUgraphNodeType type;
    HIP_READY();
    if (pType == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuGraphNodeGetType((CUgraphNode)node, &type);
    if (result != CUDA_SUCCESS)
        return hip_result(result);
    if ((size_t)type >=
        sizeof types / sizeof *types) /* memory nodes of a stream capture, which HIP 5 lacks */
        return hip_not_supported("a graph node of this type");
    *pType = types[type];
    return hipSuccess;
}

/* The log is empty, like a driver's without messages. */
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
                               char *pLogBuffer, size_t bufferSize)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {0};
    HIP_READY();
    const hipError_t error =
        hip_result(cuGraphInstantiateWithParams((CUgraphExec *)pGraphExec, (CUgraph)graph, &parameters));
    if (pErrorNode != NULL)
        *pErrorNode = (hipGraphNode_t)parameters.hErrNode_out;
    if (pLogBuffer != NULL && bufferSize != 0)
        pLogBuffer[0] = '\0';
    return error;
}

hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
                              hipGraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info = {0};
    HIP_READY();
    const CUresult result = cuGraphExecUpdate((CUgraphExec)hGraphExec, (CUgraph)hGraph, &info);
    if (hErrorNode_out != NULL)
        *hErrorNode_out = (hipGraphNode_t)info.errorNode;
    if (updateResult_out != NULL)
        *updateResult_out = (hipGraphExecUpdateResult)info.result;
    return hip_result(result);
}
