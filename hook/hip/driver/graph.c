/* Graphs and executable graphs. */
#include "hip/driver/hip.h"

#include <string.h>

/* HIP's edges have no ports and no types: each is a full dependency. */
CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                            size_t *numEdges)
{
    const CUresult result = nb_hip_result(
        HIP(hipGraphGetEdges)((hipGraph_t)hGraph, (hipGraphNode_t *)from, (hipGraphNode_t *)to, numEdges));
    if (result == CUDA_SUCCESS && from != NULL && edgeData != NULL)
        memset(edgeData, 0, *numEdges * sizeof *edgeData);
    return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    static const CUgraphEdgeData whole;
    for (size_t i = 0; edgeData != NULL && i < numDependencies; i++)
        if (memcmp(&edgeData[i], &whole, sizeof whole) != 0)
            return CUDA_ERROR_NOT_SUPPORTED;
    return nb_hip_result(HIP(hipGraphAddDependencies)((hipGraph_t)hGraph, (const hipGraphNode_t *)from,
                                                      (const hipGraphNode_t *)to, numDependencies));
}

/* Before 5.3 the kinds are numbered from 1, and one-dimensional copies have a kind of their own (9). From 5.5
 * on, the numbers up to 11 are CUDA's. All other numbers are copies of symbols. */
CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    hipGraphNodeType kind;
    const CUresult result = nb_hip_result(HIP(hipGraphNodeGetType)((hipGraphNode_t)hNode, &kind));
    if (result != CUDA_SUCCESS)
        return result;
    const int first = nb_hip_version() < 503 ? 1 : 0;
    const int shared = nb_hip_version() < 505 ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_MEM_FREE;
    if ((int)kind < first || (int)kind - first > shared)
        return CUDA_ERROR_NOT_SUPPORTED;
    *type = (CUgraphNodeType)((int)kind - first);
    return CUDA_SUCCESS;
}

/* ---- executable graphs --------------------------------------------------------------------------------- */

/* HIP has this function since 5.3. Older libraries prepare a graph when it is instantiated or first launched.
 */
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    hipError_t (*const upload)(hipGraphExec_t, hipStream_t) =
        HIP_LATER(hipGraphUpload, (hipGraphExec_t, hipStream_t));
    return upload != NULL ? nb_hip_result(upload((hipGraphExec_t)hGraphExec, nb_hip_stream(hStream)))
                          : CUDA_SUCCESS;
}

/* HIP has this function since 5.3. Before, every node is enabled. */
CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    hipError_t (*const enable)(hipGraphExec_t, hipGraphNode_t, unsigned int) =
        HIP_LATER(hipGraphNodeSetEnabled, (hipGraphExec_t, hipGraphNode_t, unsigned int));
    if (enable != NULL)
        return nb_hip_result(enable((hipGraphExec_t)hGraphExec, (hipGraphNode_t)hNode, isEnabled));
    return isEnabled != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    hipGraphExecUpdateResult told = hipGraphExecUpdateSuccess;
    hipGraphNode_t node = NULL;
    const CUresult result =
        nb_hip_result(HIP(hipGraphExecUpdate)((hipGraphExec_t)hGraphExec, (hipGraph_t)hGraph, &node, &told));
    if (resultInfo != NULL)
        *resultInfo = (CUgraphExecUpdateResultInfo){.result = (CUgraphExecUpdateResult)told,
                                                    .errorNode = (CUgraphNode)node};
    return result;
}
