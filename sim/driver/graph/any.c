/* Nodes of any type, described by CUgraphNodeParams. */
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/graph/batch.h"
#include "driver/graph/condition.h"
#include "driver/graph/edge.h"
#include "driver/graph/exec.h"
#include "driver/graph/memory.h"
#include "driver/graph/memory_node.h"
#include "driver/graph/node.h"
#include "driver/graph/type.h"
#include "driver/graph/work.h"

#include <stdlib.h>
#include <string.h>

#if CUDA_VERSION >= 12020

/* Size of the union's member for a node type. 0: nodes of that type are not supported. */
static size_t member_bytes(int type)
{
    const CUgraphNodeParams *p = NULL;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return sizeof p->kernel;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return sizeof p->memcpy;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return sizeof p->memset;
    case CU_GRAPH_NODE_TYPE_HOST:
        return sizeof p->host;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return sizeof p->graph;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sizeof p->eventWait;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sizeof p->eventRecord;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return sizeof p->alloc;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sizeof p->free;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sizeof p->memOp;
    case SIM_GRAPH_TYPE_CONDITIONAL:
#if CUDA_VERSION >= 12030
        return sizeof p->conditional;
#else
        return 0;
#endif
    default:
        return 0;
    }
}

/* "All unused bytes must be set to zero." */
static CUresult check(const CUgraphNodeParams *p)
{
    static const unsigned char zeros[sizeof p->reserved1];
    const unsigned char *bytes = (const unsigned char *)p->reserved1;
    if (p->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || p->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)
        return CUDA_ERROR_NOT_SUPPORTED;
    const size_t used = member_bytes((int)p->type);
    if ((used == 0 && p->type != CU_GRAPH_NODE_TYPE_EMPTY) ||
        memcmp(p->reserved0, zeros, sizeof p->reserved0) != 0 || p->reserved2 != 0 ||
        memcmp(bytes + used, zeros, sizeof p->reserved1 - used) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* The kernel's context must be that of the function. */
static CUresult check_kernel_context(const CUgraphNodeParams *p, const struct sim_work *work)
{
    struct sim_context *context;
    if (p->type != CU_GRAPH_NODE_TYPE_KERNEL || p->kernel.func == NULL || p->kernel.ctx == NULL)
        return CUDA_SUCCESS;
    return sim_enter_with(p->kernel.ctx, &context) == CUDA_SUCCESS &&
                   context == work->launch.function->module->object.context
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_CONTEXT;
}

static bool is_moved(const CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
#if CUDA_VERSION >= 12090
    return p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
#else
    (void)p;
    return false;
#endif
}

/* Work for types that every call accepts. Allocations, child graphs and conditions can only be added. */
static CUresult common_work(struct sim_context *context, const CUgraphNodeParams *p, struct sim_work *work)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    CUDA_MEMSET_NODE_PARAMS_v1 set;
    switch ((int)p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&kernel, &p->kernel, sizeof kernel); /* v3 has the layout of v2 */
        return sim_graph_kernel_work(context, &kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (p->memcpy.flags != 0 || p->memcpy.reserved != 0)
            return CUDA_ERROR_INVALID_VALUE;
        return sim_graph_copy_work(&p->memcpy.copyParams, p->memcpy.copyCtx, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&set, &p->memset, sizeof set); /* v2 begins with the members of v1 */
        return sim_graph_set_work(&set, p->memset.ctx, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        return sim_graph_host_work(p->host.fn, p->host.userData, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *work = (struct sim_work){.kind = SIM_WORK_NONE};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sim_graph_event_work(p->eventWait.event, SIM_WORK_WAIT, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sim_graph_event_work(p->eventRecord.event, SIM_WORK_RECORD, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return p->memOp.ctx == NULL
                   ? CUDA_ERROR_INVALID_VALUE
                   : sim_graph_batch_make(p->memOp.paramArray, p->memOp.count, p->memOp.flags, work);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult new_work(const struct sim_graph_place *at, CUgraphNodeParams *p, struct sim_work *work)
{
    CUDA_MEM_ALLOC_NODE_PARAMS allocation;
    CUresult result;
    switch ((int)p->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return sim_graph_child_work(at->graph, p->graph.graph, is_moved(&p->graph), work);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        memcpy(&allocation, &p->alloc, sizeof allocation); /* v2 has the layout of v1 */
        result = sim_graph_allocation_work(&allocation, work);
        if (result == CUDA_SUCCESS)
            p->alloc.dptr = allocation.dptr;
        return result;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sim_graph_memory_release(p->free.dptr, work);
#if CUDA_VERSION >= 12030
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return sim_graph_condition_make(&p->conditional, at->graph, work);
#endif
    default:
        return common_work(at->context, p, work);
    }
}

/* `exact`: the variants since 13.4 compare the kernel's context. */
static CUresult add(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies,
                    const struct sim_graph_edge *edges, size_t count, CUgraphNodeParams *p, bool exact)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, made, hGraph, dependencies, count);
    if (result == CUDA_SUCCESS)
        result = p == NULL ? CUDA_ERROR_INVALID_VALUE : check(p);
    if (result == CUDA_SUCCESS)
        result = new_work(&at, p, &work);
    if (result != CUDA_SUCCESS)
        return result;
    result = exact ? check_kernel_context(p, &work) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        sim_work_clear(&work);
        return result;
    }
    result = sim_graph_add_at(&at, &work);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_graph_node *node = (struct sim_graph_node *)*made;
    if (edges != NULL)
        result = sim_graph_edges_set(node, edges);
    if (result == CUDA_SUCCESS && node->work.kind == SIM_WORK_COPY)
        result = sim_graph_keep_copy(node, &p->memcpy.copyParams);
#if CUDA_VERSION >= 12030
    if (node->work.kind == SIM_WORK_CONDITION)
        sim_graph_condition_describe(node, &p->conditional);
#endif
    if (result != CUDA_SUCCESS)
        sim_graph_remove(node);
    return result;
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    return add(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams, false);
}

#if CUDA_VERSION >= 12030
static CUresult add_with_data(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies,
                              const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *p, bool exact)
{
    struct sim_graph_edge *edges;
    CUresult result = sim_graph_edges_read(data, count, &edges);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(made, hGraph, dependencies, edges, count, p, exact);
    free(edges);
    return result;
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies,
                           CUgraphNodeParams *nodeParams)
{
    return add_with_data(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams,
                         false);
}
#endif

#if CUDA_VERSION >= 13040
CUresult cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies,
                           CUgraphNodeParams *nodeParams)
{
    return add_with_data(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams,
                         true);
}
#endif

static CUresult set(CUgraphNode hNode, const CUgraphNodeParams *p, bool exact)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find_any(hNode, p, &node);
    if (result == CUDA_SUCCESS)
        result = check(p);
    if (result == CUDA_SUCCESS && (int)p->type != sim_graph_type(&node->work))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = common_work(sim_context_current(), p, &work);
    if (result != CUDA_SUCCESS)
        return result;
    result = exact ? check_kernel_context(p, &work) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        sim_work_clear(&work);
        return result;
    }
    if (work.kind == SIM_WORK_LAUNCH)
        work.launch.cooperative = node->work.launch.cooperative;
    result = sim_graph_replace(node, &work);
    return result == CUDA_SUCCESS && node->work.kind == SIM_WORK_COPY
               ? sim_graph_keep_copy(node, &p->memcpy.copyParams)
               : result;
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return set(hNode, nodeParams, false);
}

#if CUDA_VERSION >= 13040
CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return set(hNode, nodeParams, true);
}
#endif

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct sim_graph_step step;
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find_any(hNode, nodeParams, &node);
    if (result == CUDA_SUCCESS)
        result = sim_graph_step_find(&step, hGraphExec, hNode, node->work.kind);
    if (result == CUDA_SUCCESS)
        result = check(nodeParams);
    if (result == CUDA_SUCCESS && (int)nodeParams->type != sim_graph_type(&node->work))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (node->work.kind == SIM_WORK_CHILD)
        return cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph);
    result = common_work(step.context, nodeParams, &work);
    if (result != CUDA_SUCCESS)
        return result;
    return work.kind == SIM_WORK_COPY ? sim_graph_step_set_copy(&step, &work, &nodeParams->memcpy.copyParams)
                                      : sim_graph_step_set(&step, &work);
}

#if CUDA_VERSION >= 13020
static void describe_child(const struct sim_graph_node *node, CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
    p->graph = (CUgraph)node->work.child;
    p->ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID; /* the graph moves into the node, and must not be
                                                              passed on again */
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct sim_graph_node *node;
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    CUDA_MEMSET_NODE_PARAMS_v1 memory_set;
    CUDA_MEM_ALLOC_NODE_PARAMS allocation;
    const CUresult result = sim_graph_node_find_any(hNode, nodeParams, &node);
    if (result != CUDA_SUCCESS)
        return result;
    memset(nodeParams, 0, sizeof *nodeParams);
    nodeParams->type = (CUgraphNodeType)sim_graph_type(&node->work);
    switch (node->work.kind) {
    case SIM_WORK_LAUNCH:
        sim_graph_kernel_describe(node, &kernel);
        memcpy(&nodeParams->kernel, &kernel, sizeof kernel);
        break;
    case SIM_WORK_COPY:
        nodeParams->memcpy.copyCtx = (CUcontext)node->context;
        sim_graph_copy_describe(node, &nodeParams->memcpy.copyParams);
        break;
    case SIM_WORK_SET:
        sim_graph_set_describe(node, &memory_set);
        memcpy(&nodeParams->memset, &memory_set, sizeof memory_set);
        nodeParams->memset.ctx = (CUcontext)node->context;
        break;
    case SIM_WORK_HOST:
        nodeParams->host.fn = node->work.host.function;
        nodeParams->host.userData = node->work.host.data;
#if CUDA_VERSION >= 13040
        nodeParams->host.ctx = (CUcontext)node->context;
#endif
        break;
    case SIM_WORK_CHILD:
        describe_child(node, &nodeParams->graph);
        break;
    case SIM_WORK_WAIT:
        nodeParams->eventWait.event = sim_graph_event_of(&node->work);
        break;
    case SIM_WORK_RECORD:
        nodeParams->eventRecord.event = sim_graph_event_of(&node->work);
#if CUDA_VERSION >= 13040
        nodeParams->eventRecord.ctx = (CUcontext)node->context;
#endif
        break;
    case SIM_WORK_GRAPH_ALLOCATE:
        sim_graph_allocation_describe(node, &allocation);
        memcpy(&nodeParams->alloc, &allocation, sizeof allocation);
        break;
    case SIM_WORK_GRAPH_FREE:
        nodeParams->free.dptr = sim_graph_memory_address(node->work.memory);
        break;
    case SIM_WORK_BATCH:
        nodeParams->memOp = (CUDA_BATCH_MEM_OP_NODE_PARAMS_v2){.ctx = (CUcontext)node->context,
                                                               .count = node->work.batch->count,
                                                               .paramArray = node->work.batch->operations,
                                                               .flags = node->work.batch->flags};
        break;
    case SIM_WORK_CONDITION:
        sim_graph_condition_describe(node, &nodeParams->conditional);
        break;
    default:
        break;
    }
    return CUDA_SUCCESS;
}
#endif

#endif
