/* Executable graphs, as cuGraphInstantiate and the like. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "hip/driver/hip.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_after_hip_graph_instantiate(const struct nb_call *call, hipError_t result, hipGraphExec_t *pGraphExec,
                                    hipGraph_t graph, hipGraphNode_t *pErrorNode, char *pLogBuffer,
                                    size_t bufferSize)
{
    nb_after_graph_instantiate_log(call, (CUresult)result, (CUgraphExec *)pGraphExec, (CUgraph)graph,
                                   (CUgraphNode *)pErrorNode, pLogBuffer, bufferSize);
}

void nb_after_hip_graph_instantiate_flags(const struct nb_call *call, hipError_t result,
                                          hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                          unsigned long long flags)
{
    nb_after_graph_instantiate_flags(call, (CUresult)result, (CUgraphExec *)pGraphExec, (CUgraph)graph,
                                     flags);
}

void nb_after_hip_graph_exec_update(const struct nb_call *call, hipError_t result, hipGraphExec_t hGraphExec,
                                    hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
                                    hipGraphExecUpdateResult *updateResult_out)
{
    (void)hErrorNode_out, (void)updateResult_out;
    nb_after_graph_exec_update(call, (CUresult)result, (CUgraphExec)hGraphExec, (CUgraph)hGraph, NULL);
}

void nb_after_hip_graph_exec_kernel_node(const struct nb_call *call, hipError_t result,
                                         hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                         const hipKernelNodeParams *pNodeParams)
{
    if (result != hipSuccess || pNodeParams == NULL)
        return;
    const CUDA_KERNEL_NODE_PARAMS kernel = nb_shape_of_kernel(pNodeParams);
    nb_after_graph_exec_kernel_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec, (CUgraphNode)node,
                                               &kernel);
}

static void copy_changed(const struct nb_call *call, hipGraphExec_t exec, hipGraphNode_t node,
                         CUDA_MEMCPY3D copy)
{
    nb_after_graph_exec_memcpy_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)exec, (CUgraphNode)node,
                                               &copy, NULL);
}

void nb_after_hip_graph_exec_copy_node(const struct nb_call *call, hipError_t result,
                                       hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                       hipMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    if (result == hipSuccess && pNodeParams != NULL && nb_hip_copy_to(pNodeParams, &copy))
        copy_changed(call, hGraphExec, node, copy);
}

void nb_after_hip_graph_exec_copy_node_bytes(const struct nb_call *call, hipError_t result,
                                             hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
                                             const void *src, size_t count, hipMemcpyKind kind)
{
    (void)kind;
    if (result == hipSuccess)
        copy_changed(call, hGraphExec, node, nb_shape_of_bytes(dst, src, count));
}

void nb_after_hip_graph_exec_set_node(const struct nb_call *call, hipError_t result,
                                      hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                      const hipMemsetParams *pNodeParams)
{
    if (result != hipSuccess || pNodeParams == NULL)
        return;
    const CUDA_MEMSET_NODE_PARAMS set = nb_shape_of_set(pNodeParams);
    nb_after_graph_exec_memset_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec, (CUgraphNode)node,
                                               &set, NULL);
}

void nb_after_hip_graph_exec_child_node(const struct nb_call *call, hipError_t result,
                                        hipGraphExec_t hGraphExec, hipGraphNode_t node, hipGraph_t childGraph)
{
    nb_after_graph_exec_child_node_set_params(call, (CUresult)result, (CUgraphExec)hGraphExec,
                                              (CUgraphNode)node, (CUgraph)childGraph);
}

void nb_after_hip_graph_exec_destroy(const struct nb_call *call, hipError_t result, hipGraphExec_t graphExec)
{
    nb_after_graph_exec_destroy(call, (CUresult)result, (CUgraphExec)graphExec);
}

hipError_t nb_replace_hip_graph_launch(const struct nb_call *call, nb_hipGraphLaunch_t real,
                                       hipGraphExec_t graphExec, hipStream_t stream)
{
    return (hipError_t)nb_replace_graph_launch(call, NB_SAME(cuGraphLaunch, real), (CUgraphExec)graphExec,
                                               (CUstream)stream);
}
