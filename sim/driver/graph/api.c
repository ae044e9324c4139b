/* Graphs as a whole: create, clone, list, debug. */
#include "driver/context/context.h"
#include "driver/graph/node.h"
#include "driver/graph/type.h"
#include "driver/graph/user_object.h"

#include <stdlib.h>

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
    const CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph->parent != NULL)
        return CUDA_ERROR_INVALID_VALUE; /* the graph belongs to a node */
    sim_graph_close(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_graph *copy;
    CUresult result = sim_graph_find(originalGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (phGraphClone == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_graph_has(graph, SIM_GRAPH_MEMORY | SIM_GRAPH_CONDITIONAL))
        return CUDA_ERROR_NOT_SUPPORTED;
    result = sim_graph_clone(graph, true, &copy);
    if (result == CUDA_SUCCESS)
        *phGraphClone = (CUgraph)copy;
    return result;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = sim_graph_find(hClonedGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_graph_node *original = sim_object_find(hOriginalNode, SIM_GRAPH_NODE);
    if (phNode == NULL || original == NULL || original->graph->id != graph->origin)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->cloned && graph->nodes[i]->origin == original->id) {
            *phNode = (CUgraphNode)graph->nodes[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Return a list: with `out` NULL its length, else as many nodes as fit, followed by NULLs. */
static CUresult give_list(struct sim_graph_node *const *nodes, size_t count, CUgraphNode *out, size_t *length)
{
    if (length == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t room = *length;
    for (size_t i = 0; out != NULL && i < room; i++)
        out[i] = i < count ? (CUgraphNode)nodes[i] : NULL;
    *length = out != NULL && room < count ? room : count;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = sim_graph_find(hGraph, &context, &graph);
    return result == CUDA_SUCCESS ? give_list(graph->nodes, graph->node_count, nodes, numNodes) : result;
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    struct sim_context *context;
    struct sim_graph *graph;
    CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_graph_node **roots = malloc((graph->node_count + 1) * sizeof(struct sim_graph_node *));
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

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, hNode, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_graph_has(node->graph, SIM_GRAPH_MEMORY))
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_graph_remove(node);
    return CUDA_SUCCESS;
}

int sim_graph_type(const struct sim_work *work)
{
    switch (work->kind) {
    case SIM_WORK_LAUNCH:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case SIM_WORK_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case SIM_WORK_SET:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case SIM_WORK_HOST:
        return CU_GRAPH_NODE_TYPE_HOST;
    case SIM_WORK_CHILD:
        return CU_GRAPH_NODE_TYPE_GRAPH;
    case SIM_WORK_WAIT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case SIM_WORK_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case SIM_WORK_GRAPH_ALLOCATE:
        return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case SIM_WORK_GRAPH_FREE:
        return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case SIM_WORK_BATCH:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case SIM_WORK_CONDITION:
        return SIM_GRAPH_TYPE_CONDITIONAL;
    default:
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, type, &node);
    if (result == CUDA_SUCCESS)
        *type = (CUgraphNodeType)sim_graph_type(&node->work);
    return result;
}

#if CUDA_VERSION >= 13010
CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, phGraph, &node);
    if (result == CUDA_SUCCESS)
        *phGraph = (CUgraph)node->graph;
    return result;
}

CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, nodeId, &node);
    if (result == CUDA_SUCCESS)
        *nodeId = node->id;
    return result;
}

CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long *toolsNodeId)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, toolsNodeId, &node);
    if (result == CUDA_SUCCESS)
        *toolsNodeId = (unsigned long long)node->graph->id << 32 | node->id;
    return result;
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int *graphId)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result == CUDA_SUCCESS && graphId != NULL)
        *graphId = graph->id;
    return graphId == NULL ? CUDA_ERROR_INVALID_VALUE : result;
}
#endif

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    struct sim_context *context;
    struct sim_graph *self;
    const CUresult result = sim_graph_find(graph, &context, &self);
    return result == CUDA_SUCCESS ? sim_user_graph_retain(&self->users, object, count, flags) : result;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct sim_context *context;
    struct sim_graph *self;
    const CUresult result = sim_graph_find(graph, &context, &self);
    return result == CUDA_SUCCESS ? sim_user_graph_release(&self->users, object, count) : result;
}
