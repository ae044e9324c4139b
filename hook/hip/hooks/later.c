/* Hooks of functions that are newer than 5.2. The #if lines have the first version of each export
 * (hip_hcc.map.in). */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "core/region/region.h"
#include "cuda/graph/capture.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"

#if HIP_VERSION >= 60100000
void nb_post_hip_graph_instantiate_params(const struct nb_call *call, hipError_t result,
                                          hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                          hipGraphInstantiateParams *instantiateParams)
{
    if (instantiateParams != NULL)
        nb_post_graph_instantiate_flags(call, (CUresult)result, (CUgraphExec *)pGraphExec, (CUgraph)graph,
                                        instantiateParams->flags);
}
#endif

#if HIP_VERSION >= 60200000
void nb_post_hip_graph_exec_driver_copy_node(const struct nb_call *call, hipError_t result,
                                             hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                             const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    CUDA_MEMCPY3D copy;
    (void)ctx;
    if (result == hipSuccess && copyParams != NULL && nb_shape_of_driver_volume(copyParams, &copy))
        nb_post_graph_exec_memcpy_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec,
                                                  (CUgraphNode)hNode, &copy, NULL);
}

void nb_post_hip_graph_exec_driver_set_node(const struct nb_call *call, hipError_t result,
                                            hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                            const hipMemsetParams *memsetParams, hipCtx_t ctx)
{
    (void)ctx;
    nb_post_hip_graph_exec_set_node(call, result, hGraphExec, hNode, memsetParams);
}

/* The change is not followed. Forget the graph, so that launching it is refused. */
void nb_post_hip_graph_exec_any_node(const struct nb_call *call, hipError_t result, hipGraphExec_t graphExec,
                                     hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    (void)node, (void)nodeParams;
    if (result != hipSuccess || !nb_capture_enabled() || !nb_hook_enter(call))
        return;
    nb_capture_destroy_graph((CUgraphExec)graphExec);
    nb_hook_leave(call);
}
#endif
