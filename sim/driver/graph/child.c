/* Child graph nodes. */
#include "driver/context/context.h"
#include "driver/graph/exec.h"
#include "driver/graph/node.h"
#include "driver/graph/work.h"

CUresult sim_graph_child_work(const struct sim_graph *parent, CUgraph handle, bool moved,
                              struct sim_work *work)
{
    struct sim_graph *child = sim_object_find(handle, SIM_GRAPH);
    *work = (struct sim_work){.kind = SIM_WORK_CHILD};
    if (child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned long refused = moved ? SIM_GRAPH_CONDITIONAL : SIM_GRAPH_CONDITIONAL | SIM_GRAPH_MEMORY;
    if (sim_graph_has(child, refused))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!moved)
        return sim_graph_clone(child, true, &work->child);
    if (child->parent != NULL || atomic_load(&child->instances) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    for (const struct sim_graph *graph = parent; graph != NULL;
         graph = graph->parent == NULL ? NULL : graph->parent->graph)
        if (graph == child)
            return CUDA_ERROR_INVALID_VALUE;
    work->child = child;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = sim_graph_child_work(at.graph, childGraph, false, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, phGraph, SIM_WORK_CHILD, &node);
    if (result == CUDA_SUCCESS)
        *phGraph = (CUgraph)node->work.child;
    return result;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    struct sim_graph_step step;
    struct sim_context *context;
    struct sim_graph *child;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_CHILD);
    if (result == CUDA_SUCCESS)
        result = sim_graph_find(childGraph, &context, &child);
    return result == CUDA_SUCCESS ? sim_graph_exec_update(step.exec, step.source, child, NULL) : result;
}
