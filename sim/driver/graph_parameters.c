/* Parameters of memset, memcpy and host nodes, read back. */
#include "context.h"
#include "graph.h"

#include <string.h>

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

static void side(CUmemorytype type, uint64_t address, void **host, CUdeviceptr *device)
{
    if (type == CU_MEMORYTYPE_HOST)
        *host = (void *)(uintptr_t)address;
    else
        *device = address;
}

/* Positions are already in the addresses. */
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = find(hNode, nodeParams, SIM_WORK_COPY, &node);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_copy *copy = &node->work.copy;
    void *source_host = NULL;
    memset(nodeParams, 0, sizeof *nodeParams);
    side(copy->source_type, copy->source, &source_host, &nodeParams->srcDevice);
    side(copy->destination_type, copy->destination, &nodeParams->dstHost, &nodeParams->dstDevice);
    nodeParams->srcHost = source_host;
    nodeParams->srcMemoryType = copy->source_type;
    nodeParams->dstMemoryType = copy->destination_type;
    nodeParams->srcPitch = copy->source_pitch;
    nodeParams->dstPitch = copy->destination_pitch;
    nodeParams->srcHeight = copy->source_pitch == 0 ? 0 : copy->source_slice / copy->source_pitch;
    nodeParams->dstHeight =
        copy->destination_pitch == 0 ? 0 : copy->destination_slice / copy->destination_pitch;
    nodeParams->WidthInBytes = copy->width;
    nodeParams->Height = copy->height;
    nodeParams->Depth = copy->depth;
    return CUDA_SUCCESS;
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
