/* Graphs, their edges, and executable graphs. */
#include "runtime/cudart.h"

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData) &&
                   sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo) &&
                   sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
               "passed on unchanged");

FORWARD(cudaGraphCreate, (cudaGraph_t * pGraph, unsigned int flags), cuGraphCreate, pGraph, flags)
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy, graph)
FORWARD(cudaGraphClone, (cudaGraph_t * pGraphClone, cudaGraph_t originalGraph), cuGraphClone, pGraphClone,
        originalGraph)
FORWARD(cudaGraphNodeFindInClone,
        (cudaGraphNode_t * pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph),
        cuGraphNodeFindInClone, pNode, originalNode, clonedGraph)
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes), cuGraphGetNodes,
        graph, nodes, numNodes)
FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes),
        cuGraphGetRootNodes, graph, pRootNodes, pNumRootNodes)
FORWARD(cudaGraphGetEdges,
        (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
         size_t *numEdges),
        cuGraphGetEdges, graph, from, to, (CUgraphEdgeData *)(void *)edgeData, numEdges)
FORWARD(cudaGraphAddDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
         const cudaGraphEdgeData *edgeData, size_t numDependencies),
        cuGraphAddDependencies, graph, from, to, (const CUgraphEdgeData *)(const void *)edgeData,
        numDependencies)
FORWARD(cudaGraphRemoveDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
         const cudaGraphEdgeData *edgeData, size_t numDependencies),
        cuGraphRemoveDependencies, graph, from, to, (const CUgraphEdgeData *)(const void *)edgeData,
        numDependencies)
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
        cuGraphDebugDotPrint, graph, path, flags)

FORWARD(cudaGraphInstantiate, (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, pGraphExec, graph, flags)
FORWARD(cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, pGraphExec, graph, flags)
FORWARD(cudaGraphInstantiateWithParams,
        (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams *instantiateParams),
        cuGraphInstantiateWithParams, pGraphExec, graph,
        (CUDA_GRAPH_INSTANTIATE_PARAMS *)(void *)instantiateParams)
PER_THREAD(cudaGraphInstantiateWithParams_ptsz,
           (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, cudaGraphInstantiateParams *instantiateParams),
           cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams))
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t graphExec), cuGraphExecDestroy, graphExec)
FORWARD(cudaGraphExecGetFlags, (cudaGraphExec_t graphExec, unsigned long long *flags), cuGraphExecGetFlags,
        graphExec, (cuuint64_t *)flags)
FORWARD(cudaGraphExecUpdate,
        (cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo),
        cuGraphExecUpdate, hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)(void *)resultInfo)
FORWARD_STREAM(cudaGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream), cuGraphLaunch, graphExec,
               stream)
FORWARD_STREAM(cudaGraphUpload, (cudaGraphExec_t graphExec, cudaStream_t stream), cuGraphUpload, graphExec,
               stream)
