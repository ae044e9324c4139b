#include "driver/graph/node.h"

#include "driver/context/context.h"

CUresult sim_graph_find(CUgraph handle, struct sim_context **context, struct sim_graph **graph)
{
    const CUresult result = sim_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *graph = sim_object_find(handle, SIM_GRAPH);
    return *graph == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult sim_graph_node_find_any(CUgraphNode handle, const void *out, struct sim_graph_node **node)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *node = sim_object_find(handle, SIM_GRAPH_NODE);
    return *node == NULL || out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult sim_graph_node_find(CUgraphNode handle, const void *out, enum sim_work_kind kind,
                             struct sim_graph_node **node)
{
    const CUresult result = sim_graph_node_find_any(handle, out, node);
    return result == CUDA_SUCCESS && (*node)->work.kind != kind ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult sim_graph_node_context(CUcontext handle, struct sim_context **context)
{
    if (sim_enter_with(handle, context) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_SUCCESS;
}

CUresult sim_graph_place(struct sim_graph_place *place, CUgraphNode *made, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count)
{
    const CUresult result = sim_graph_find(graph, &place->context, &place->graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (made == NULL || (count != 0 && dependencies == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        const struct sim_graph_node *on = sim_object_find(dependencies[i], SIM_GRAPH_NODE);
        if (on == NULL || on->graph != place->graph)
            return CUDA_ERROR_INVALID_VALUE;
        for (size_t earlier = 0; earlier < i; earlier++)
            if (dependencies[earlier] == dependencies[i])
                return CUDA_ERROR_INVALID_VALUE;
    }
    place->made = made;
    place->dependencies = (struct sim_graph_node *const *)dependencies;
    place->count = count;
    return CUDA_SUCCESS;
}

CUresult sim_graph_add_at(const struct sim_graph_place *place, struct sim_work *work)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_add(place->graph, place->dependencies, place->count, work, &node);
    if (result == CUDA_SUCCESS)
        *place->made = (CUgraphNode)node;
    return result;
}
