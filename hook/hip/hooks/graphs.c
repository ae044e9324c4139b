/* Hooks of executable graphs whose HIP structures differ from CUDA's. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "hip/driver/hip.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_post_hip_graph_exec_kernel_node(const struct nb_call *call, hipError_t result,
                                        hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                        const hipKernelNodeParams *pNodeParams)
{
    if (result != hipSuccess || pNodeParams == NULL)
        return;
    const CUDA_KERNEL_NODE_PARAMS kernel = nb_shape_of_kernel(pNodeParams);
    nb_post_graph_exec_kernel_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec, (CUgraphNode)node,
                                              &kernel);
}

static void copy_changed(const struct nb_call *call, hipGraphExec_t exec, hipGraphNode_t node,
                         CUDA_MEMCPY3D copy)
{
    nb_post_graph_exec_memcpy_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)exec, (CUgraphNode)node, &copy,
                                              NULL);
}

void nb_post_hip_graph_exec_copy_node(const struct nb_call *call, hipError_t result,
                                      hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                      hipMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    if (result == hipSuccess && pNodeParams != NULL && nb_hip_copy_to(pNodeParams, &copy))
        copy_changed(call, hGraphExec, node, copy);
}

void nb_post_hip_graph_exec_copy_node_bytes(const struct nb_call *call, hipError_t result,
                                            hipGraphExec_t hGraphExec, hipGraphNode_t node, void *dst,
                                            const void *src, size_t count, hipMemcpyKind kind)
{
    (void)kind;
    if (result == hipSuccess)
        copy_changed(call, hGraphExec, node, nb_shape_of_bytes(dst, src, count));
}

void nb_post_hip_graph_exec_set_node(const struct nb_call *call, hipError_t result, hipGraphExec_t hGraphExec,
                                     hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    if (result != hipSuccess || pNodeParams == NULL)
        return;
    const CUDA_MEMSET_NODE_PARAMS set = nb_shape_of_set(pNodeParams);
    nb_post_graph_exec_memset_node_set_params(call, CUDA_SUCCESS, (CUgraphExec)hGraphExec, (CUgraphNode)node,
                                              &set, NULL);
}
