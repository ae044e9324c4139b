/* Parameters of memset, memcpy and host nodes, read back. */
#include "context.h"
#include "copy.h"
#include "graph.h"

static CUresult find(CUgraphNode handle, const void *out, enum sim_work_kind kind,
                     struct sim_graph_node **node)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *node = sim_object_find(handle, SIM_GRAPH_NODE);
    return *node == NULL || out == NULL || (*node)->work.kind != kind ? CUDA_ERROR_INVALID_VALUE
                                                                      : CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = find(hNode, nodeParams, SIM_WORK_SET, &node);
    if (result == CUDA_SUCCESS) {
        const struct sim_set *set = &node->work.set;
        *nodeParams = (CUDA_MEMSET_NODE_PARAMS){.dst = set->destination,
                                                .pitch = set->pitch,
                                                .value = set->value,
                                                .elementSize = set->element_bytes,
                                                .width = set->width,
                                                .height = set->height};
    }
    return result;
}

/* Positions are already in the addresses, except those in arrays. */
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = find(hNode, nodeParams, SIM_WORK_COPY, &node);
    if (result == CUDA_SUCCESS)
        sim_copy_describe(&node->work.copy, nodeParams);
    return result;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = find(hNode, nodeParams, SIM_WORK_HOST, &node);
    if (result == CUDA_SUCCESS)
        *nodeParams =
            (CUDA_HOST_NODE_PARAMS){.fn = node->work.host.function, .userData = node->work.host.data};
    return result;
}
