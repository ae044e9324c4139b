/* Graphs: making, listing and changing nodes. */
#include "context.h"
#include "copy.h"
#include "event.h"
#include "graph.h"
#include "launch.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

static CUresult find_graph(CUgraph handle, struct sim_context **context, struct sim_graph **graph)
{
    const CUresult result = sim_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *graph = sim_object_find(handle, SIM_GRAPH);
    return *graph == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult find_node(CUgraphNode handle, const void *out, struct sim_graph_node **node)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *node = sim_object_find(handle, SIM_GRAPH_NODE);
    return *node == NULL || out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Takes what the work owns. */
static CUresult add(CUgraphNode *made, struct sim_graph *graph, const CUgraphNode *dependencies, size_t count,
                    struct sim_work *work)
{
    struct sim_graph_node *node;
    CUresult result =
        made == NULL || (count != 0 && dependencies == NULL) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const struct sim_graph_node *on = sim_object_find(dependencies[i], SIM_GRAPH_NODE);
        if (on == NULL || on->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS) {
        sim_work_clear(work);
        return result;
    }
    result = sim_graph_add(graph, (struct sim_graph_node *const *)dependencies, count, work, &node);
    if (result == CUDA_SUCCESS)
        *made = (CUgraphNode)node;
    return result;
}

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (phGraph == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)sim_graph_make();
    return *phGraph == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result == CUDA_SUCCESS)
        sim_graph_close(graph);
    return result;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_graph *copy;
    CUresult result = find_graph(originalGraph, &context, &graph);
    if (result == CUDA_SUCCESS)
        result = phGraphClone == NULL ? CUDA_ERROR_INVALID_VALUE : sim_graph_clone(graph, &copy);
    if (result == CUDA_SUCCESS)
        *phGraphClone = (CUgraph)copy;
    return result;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hClonedGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; phNode != NULL && i < graph->node_count; i++)
        if (graph->nodes[i]->origin == (const void *)hOriginalNode) {
            *phNode = (CUgraphNode)graph->nodes[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

/* A list as the API gives it: with `out` NULL the length, else as much as fits, the rest NULL. */
static CUresult give_list(struct sim_graph_node *const *nodes, size_t count, CUgraphNode *out, size_t *length)
{
    if (length == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (out != NULL) {
        const size_t room = *length;
        for (size_t i = 0; i < room; i++)
            out[i] = i < count ? (CUgraphNode)nodes[i] : NULL;
        *length = room < count ? room : count;
    } else {
        *length = count;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    return result == CUDA_SUCCESS ? give_list(graph->nodes, graph->node_count, nodes, numNodes) : result;
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    struct sim_context *context;
    struct sim_graph *graph;
    CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_graph_node **roots = malloc((graph->node_count + 1) * sizeof(*roots));
    size_t count = 0;
    if (roots == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->dependency_count == 0)
            roots[count++] = graph->nodes[i];
    result = give_list(roots, count, rootNodes, numRootNodes);
    free(roots);
    return result;
}

static CUresult edges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (numEdges == NULL || (from == NULL) != (to == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t d = 0; d < graph->nodes[i]->dependency_count; d++, count++)
            if (from != NULL && count < *numEdges) {
                from[count] = (CUgraphNode)graph->nodes[i]->dependencies[d];
                to[count] = (CUgraphNode)graph->nodes[i];
            }
    *numEdges = count;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return edges(hGraph, from, to, numEdges);
}

static CUresult depend(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < count; i++) {
        struct sim_graph_node *before = sim_object_find(from[i], SIM_GRAPH_NODE);
        struct sim_graph_node *after = sim_object_find(to[i], SIM_GRAPH_NODE);
        if (before == NULL || after == NULL || before->graph != graph || after->graph != graph ||
            before == after)
            return CUDA_ERROR_INVALID_VALUE;
        if (!sim_graph_depend(after, before))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t numDependencies)
{
    return depend(hGraph, from, to, numDependencies);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    struct sim_graph_node *node;
    const CUresult result = find_node(hNode, numDependencies, &node);
    return result == CUDA_SUCCESS
               ? give_list(node->dependencies, node->dependency_count, dependencies, numDependencies)
               : result;
}

#if CUDA_VERSION >= 12030
CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                            size_t *numEdges)
{
    if (edgeData != NULL && numEdges != NULL)
        memset(edgeData, 0, *numEdges * sizeof(*edgeData)); /* full dependencies only */
    return edges(hGraph, from, to, numEdges);
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    return edgeData != NULL ? CUDA_ERROR_NOT_SUPPORTED : depend(hGraph, from, to, numDependencies);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                       CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    if (edgeData != NULL && numDependencies != NULL)
        memset(edgeData, 0, *numDependencies * sizeof(*edgeData));
    return cuGraphNodeGetDependencies(hNode, dependencies, numDependencies);
}
#endif

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct sim_graph_node *node;
    const CUresult result = find_node(hNode, type, &node);
    if (result != CUDA_SUCCESS)
        return result;
    switch (node->work.kind) {
    case SIM_WORK_LAUNCH:
        *type = CU_GRAPH_NODE_TYPE_KERNEL;
        return CUDA_SUCCESS;
    case SIM_WORK_COPY:
        *type = CU_GRAPH_NODE_TYPE_MEMCPY;
        return CUDA_SUCCESS;
    case SIM_WORK_SET:
        *type = CU_GRAPH_NODE_TYPE_MEMSET;
        return CUDA_SUCCESS;
    case SIM_WORK_HOST:
        *type = CU_GRAPH_NODE_TYPE_HOST;
        return CUDA_SUCCESS;
    case SIM_WORK_CHILD:
        *type = CU_GRAPH_NODE_TYPE_GRAPH;
        return CUDA_SUCCESS;
    case SIM_WORK_WAIT:
        *type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
        return CUDA_SUCCESS;
    case SIM_WORK_RECORD:
        *type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        return CUDA_SUCCESS;
    case SIM_WORK_VALUE_WAIT:
    case SIM_WORK_VALUE_WRITE:
        *type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
        return CUDA_SUCCESS;
    default:
        *type = CU_GRAPH_NODE_TYPE_EMPTY;
        return CUDA_SUCCESS;
    }
}

/* `kern` and `ctx` are NULL in the older form of the parameters. */
static CUresult add_kernel(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies, size_t count,
                           const CUDA_KERNEL_NODE_PARAMS_v1 *p, CUkernel kern)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_work work;
    CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_launch_request request = {.function = p->func != NULL ? p->func : (CUfunction)kern,
                                               .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                               .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                               .shared_bytes = p->sharedMemBytes,
                                               .parameters = p->kernelParams,
                                               .extra = p->extra};
    result = sim_launch_prepare(context, &request, &work);
    return result == CUDA_SUCCESS ? add(made, graph, dependencies, count, &work) : result;
}

CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return add_kernel(phGraphNode, hGraph, dependencies, numDependencies, nodeParams, NULL);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v1 first;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&first, nodeParams, sizeof first); /* v2 begins with all of v1 */
    return add_kernel(phGraphNode, hGraph, dependencies, numDependencies, &first, nodeParams->kern);
}

static CUresult kernel_parameters(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    struct sim_graph_node *node;
    const CUresult result = find_node(hNode, p, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (node->work.kind != SIM_WORK_LAUNCH)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_launch *launch = &node->work.launch;
    *p = (CUDA_KERNEL_NODE_PARAMS_v1){.func = (CUfunction)launch->function,
                                      .gridDimX = launch->grid[0],
                                      .gridDimY = launch->grid[1],
                                      .gridDimZ = launch->grid[2],
                                      .blockDimX = launch->block[0],
                                      .blockDimY = launch->block[1],
                                      .blockDimZ = launch->block[2],
                                      .sharedMemBytes = launch->shared_bytes,
                                      .kernelParams = node->arguments};
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    return kernel_parameters(hNode, nodeParams);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v1 first;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = kernel_parameters(hNode, &first);
    if (result == CUDA_SUCCESS) {
        memset(nodeParams, 0, sizeof *nodeParams);
        memcpy(nodeParams, &first, sizeof first);
    }
    return result;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_work work = {.kind = SIM_WORK_COPY};
    (void)ctx;
    CUresult result = find_graph(hGraph, &context, &graph);
    if (result == CUDA_SUCCESS)
        result = sim_copy_3d(copyParams, &work.copy);
    return result == CUDA_SUCCESS ? add(phGraphNode, graph, dependencies, numDependencies, &work) : result;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                              CUcontext ctx)
{
    struct sim_context *context;
    struct sim_graph *graph;
    (void)ctx;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (memsetParams == NULL ||
        (memsetParams->elementSize != 1 && memsetParams->elementSize != 2 && memsetParams->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work = {.kind = SIM_WORK_SET,
                            .set = {memsetParams->dst, memsetParams->pitch, memsetParams->value,
                                    memsetParams->elementSize, memsetParams->width, memsetParams->height}};
    return add(phGraphNode, graph, dependencies, numDependencies, &work);
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (nodeParams == NULL || nodeParams->fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work = {.kind = SIM_WORK_HOST, .host = {nodeParams->fn, nodeParams->userData}};
    return add(phGraphNode, graph, dependencies, numDependencies, &work);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_work work = {.kind = SIM_WORK_NONE};
    const CUresult result = find_graph(hGraph, &context, &graph);
    return result == CUDA_SUCCESS ? add(phGraphNode, graph, dependencies, numDependencies, &work) : result;
}

/* The child is copied: later changes of the original do not reach it. */
CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_graph *child;
    struct sim_work work = {.kind = SIM_WORK_CHILD};
    CUresult result = find_graph(hGraph, &context, &graph);
    if (result == CUDA_SUCCESS)
        result = find_graph(childGraph, &context, &child);
    if (result == CUDA_SUCCESS)
        result = sim_graph_clone(child, &work.child);
    return result == CUDA_SUCCESS ? add(phGraphNode, graph, dependencies, numDependencies, &work) : result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_graph_node *node;
    const CUresult result = find_node(hNode, phGraph, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (node->work.kind != SIM_WORK_CHILD)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->work.child;
    return CUDA_SUCCESS;
}

static CUresult add_event(CUgraphNode *made, CUgraph hGraph, const CUgraphNode *dependencies, size_t count,
                          CUevent event, bool records)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = find_graph(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_event *self = sim_object_find(event, SIM_EVENT);
    if (self == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    struct sim_work work = {.kind = records ? SIM_WORK_RECORD : SIM_WORK_WAIT};
    if (records)
        work.event = sim_object_retain(self);
    else
        work.wait.event = sim_object_retain(self);
    return add(made, graph, dependencies, count, &work);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies, event, true);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies, event, false);
}
