/* Kernel nodes. */
#include "driver/code/launch.h"
#include "driver/code/launch_request.h"
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/graph/node.h"
#include "driver/graph/work.h"

#include <string.h>

/* The context matters only for a CUkernel, which has one function per context (cuda.h at
 * CUDA_KERNEL_NODE_PARAMS_v2). */
CUresult sim_graph_kernel_work(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *p,
                               struct sim_work *work)
{
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->func == NULL && p->ctx != NULL && sim_enter_with(p->ctx, &context) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    const struct sim_launch_request request = {.function = p->func != NULL ? p->func : (CUfunction)p->kern,
                                               .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                               .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                               .shared_bytes = p->sharedMemBytes,
                                               .parameters = p->kernelParams,
                                               .extra = p->extra};
    return sim_launch_prepare(context, &request, work);
}

void sim_graph_kernel_describe(const struct sim_graph_node *node, CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    const struct sim_launch *launch = &node->work.launch;
    *p = (CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)launch->function,
                                      .gridDimX = launch->grid[0],
                                      .gridDimY = launch->grid[1],
                                      .gridDimZ = launch->grid[2],
                                      .blockDimX = launch->block[0],
                                      .blockDimY = launch->block[1],
                                      .blockDimZ = launch->block[2],
                                      .sharedMemBytes = launch->shared_bytes,
                                      .kernelParams = node->arguments,
                                      .ctx = (CUcontext)node->context};
}

/* The newer struct begins with the older one. */
static const CUDA_KERNEL_NODE_PARAMS_v2 *widen(const CUDA_KERNEL_NODE_PARAMS_v1 *first,
                                               CUDA_KERNEL_NODE_PARAMS_v2 *whole)
{
    if (first == NULL)
        return NULL;
    memset(whole, 0, sizeof *whole);
    memcpy(whole, first, sizeof *first);
    return whole;
}

static CUresult add(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies, size_t count,
                    const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, made, hGraph, dependencies, count);
    if (result == CUDA_SUCCESS)
        result = sim_graph_kernel_work(at.context, p, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 whole;
    return add(phGraphNode, hGraph, dependencies, numDependencies, widen(nodeParams, &whole));
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    struct sim_graph_node *node;
    CUDA_KERNEL_NODE_PARAMS_v2 whole;
    const CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_LAUNCH, &node);
    if (result == CUDA_SUCCESS) {
        sim_graph_kernel_describe(node, &whole);
        memcpy(nodeParams, &whole, sizeof *nodeParams);
    }
    return result;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_LAUNCH, &node);
    if (result == CUDA_SUCCESS)
        sim_graph_kernel_describe(node, nodeParams);
    return result;
}

static CUresult set(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, p, SIM_WORK_LAUNCH, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_kernel_work(sim_context_current(), p, &work);
    if (result != CUDA_SUCCESS)
        return result;
    work.launch.cooperative = node->work.launch.cooperative; /* an attribute, not a parameter */
    return sim_graph_replace(node, &work);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 whole;
    return set(hNode, widen(nodeParams, &whole));
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    return set(hNode, nodeParams);
}

static CUresult set_step(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_LAUNCH);
    if (result == CUDA_SUCCESS)
        result = sim_graph_kernel_work(step.context, p, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set(&step, &work) : result;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 whole;
    return set_step(hGraphExec, hNode, widen(nodeParams, &whole));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    return set_step(hGraphExec, hNode, nodeParams);
}
