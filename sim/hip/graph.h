/* Graphs: what the files of nodes share. */
#ifndef NEUTRINO_SIM_HIP_GRAPH_H
#define NEUTRINO_SIM_HIP_GRAPH_H

#include "hip/hip.h"

/* The beginning of every function that adds a node, and what CUDA's takes for it. */
#define HIP_ADD_PARAMETERS                                                                                   \
    hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies
#define HIP_ADD_ARGUMENTS                                                                                    \
    (CUgraphNode *)pGraphNode, (CUgraph)graph, (const CUgraphNode *)pDependencies, numDependencies

/* Copies and fills name the context that they run in. There is one. */
static inline CUcontext hip_context(void)
{
    CUcontext context = NULL;
    (void)cuCtxGetCurrent(&context);
    return context;
}

#endif
