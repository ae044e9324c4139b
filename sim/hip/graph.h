/* Declarations for all kinds of graph nodes. */
#ifndef NEUTRINO_SIM_HIP_GRAPH_H
#define NEUTRINO_SIM_HIP_GRAPH_H

#include "hip/hip.h"

/* Common parameters of functions that add a node, and the same for CUDA's functions. */
#define HIP_ADD_PARAMETERS                                                                                   \
    hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies
#define HIP_ADD_ARGUMENTS                                                                                    \
    (CUgraphNode *)pGraphNode, (CUgraph)graph, (const CUgraphNode *)pDependencies, numDependencies

/* CUDA's copy and memset nodes take a context: the only one. */
static inline CUcontext hip_context(void)
{
    CUcontext context = NULL;
    (void)cuCtxGetCurrent(&context);
    return context;
}

#endif
