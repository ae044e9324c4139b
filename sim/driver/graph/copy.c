/* Memcpy and memset nodes. */
#include "driver/copy/copy.h"
#include "driver/context/context.h"
#include "driver/graph/node.h"
#include "driver/graph/work.h"
#include "driver/memory/range.h"

CUresult sim_graph_copy_work(const CUDA_MEMCPY3D *p, CUcontext handle, struct sim_work *work)
{
    struct sim_context *context;
    *work = (struct sim_work){.kind = SIM_WORK_COPY};
    const CUresult result = sim_graph_node_context(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (p == NULL || p->WidthInBytes == 0 || p->Height == 0 || p->Depth == 0)
        return CUDA_ERROR_INVALID_VALUE; /* a stream accepts such a copy */
    return sim_copy_3d(p, &work->copy);
}

void sim_graph_copy_describe(const struct sim_graph_node *node, CUDA_MEMCPY3D *p)
{
    if (node->copy != NULL)
        *p = *node->copy;
    else
        sim_copy_describe(&node->work.copy, p);
}

CUresult sim_graph_set_work(const CUDA_MEMSET_NODE_PARAMS_v1 *p, CUcontext handle, struct sim_work *work)
{
    struct sim_context *context;
    const CUresult result = sim_graph_node_context(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (p == NULL || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->dst % p->elementSize != 0 || p->width == 0 || p->height == 0 ||
        p->width > SIZE_MAX / p->elementSize || (p->height > 1 && p->pitch < p->width * p->elementSize))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < p->height; y++)
        if (!sim_range_addressable(p->dst + y * p->pitch, p->width * p->elementSize))
            return CUDA_ERROR_INVALID_VALUE;
    *work = (struct sim_work){.kind = SIM_WORK_SET,
                              .set = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height}};
    return CUDA_SUCCESS;
}

void sim_graph_set_describe(const struct sim_graph_node *node, CUDA_MEMSET_NODE_PARAMS_v1 *p)
{
    const struct sim_set *set = &node->work.set;
    *p = (CUDA_MEMSET_NODE_PARAMS_v1){.dst = set->destination,
                                      .pitch = set->pitch,
                                      .value = set->value,
                                      .elementSize = set->element_bytes,
                                      .width = set->width,
                                      .height = set->height};
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = sim_graph_copy_work(copyParams, ctx, &work);
    if (result == CUDA_SUCCESS)
        result = sim_graph_add_at(&at, &work);
    if (result == CUDA_SUCCESS)
        result = sim_graph_keep_copy((struct sim_graph_node *)*phGraphNode, copyParams);
    return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_COPY, &node);
    if (result == CUDA_SUCCESS)
        sim_graph_copy_describe(node, nodeParams);
    return result;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_COPY, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_copy_work(nodeParams, NULL, &work);
    if (result == CUDA_SUCCESS)
        result = sim_graph_replace(node, &work);
    return result == CUDA_SUCCESS ? sim_graph_keep_copy(node, nodeParams) : result;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_COPY);
    if (result == CUDA_SUCCESS)
        result = sim_graph_copy_work(copyParams, ctx, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set_copy(&step, &work, copyParams) : result;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                              CUcontext ctx)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = sim_graph_set_work(memsetParams, ctx, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_SET, &node);
    if (result == CUDA_SUCCESS)
        sim_graph_set_describe(node, nodeParams);
    return result;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_SET, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_set_work(nodeParams, NULL, &work);
    return result == CUDA_SUCCESS ? sim_graph_replace(node, &work) : result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_SET);
    if (result == CUDA_SUCCESS)
        result = sim_graph_set_work(memsetParams, ctx, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set(&step, &work) : result;
}
