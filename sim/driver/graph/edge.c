/* Dependencies between nodes. */
#include "driver/graph/edge.h"
#include "driver/context/context.h"
#include "driver/graph/node.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_PROGRAMMATIC = 1, PORT_LAUNCH_ORDER = 2, TYPE_PROGRAMMATIC = 1 };

/* CUDA_ERROR_LOSSY_QUERY; headers before 12.3 lack it. */
#define LOSSY_QUERY ((CUresult)402)

static bool is_plain(struct sim_graph_edge edge)
{
    return edge.from_port == 0 && edge.type == 0;
}

/* Only kernels have ports. A programmatic dependency joins two kernels and starts at such a port (cuda.h at
 * CUgraphDependencyType). */
static bool is_valid(struct sim_graph_edge edge, const struct sim_graph_node *from,
                     const struct sim_graph_node *to)
{
    if (is_plain(edge))
        return true;
    if (from->work.kind != SIM_WORK_LAUNCH || edge.from_port > PORT_LAUNCH_ORDER ||
        edge.type > TYPE_PROGRAMMATIC)
        return false;
    if (edge.type == TYPE_PROGRAMMATIC)
        return to->work.kind == SIM_WORK_LAUNCH && edge.from_port != 0;
    return edge.from_port == PORT_LAUNCH_ORDER;
}

CUresult sim_graph_edges_set(struct sim_graph_node *node, const struct sim_graph_edge *edges)
{
    for (size_t i = 0; i < node->dependency_count; i++) {
        if (!is_valid(edges[i], node->dependencies[i], node))
            return CUDA_ERROR_INVALID_VALUE;
        node->edges[i] = edges[i];
    }
    return CUDA_SUCCESS;
}

/* Find both nodes of an edge. */
static CUresult find(const struct sim_graph *graph, CUgraphNode from, CUgraphNode to,
                     struct sim_graph_node **before, struct sim_graph_node **after)
{
    *before = sim_object_find(from, SIM_GRAPH_NODE);
    *after = sim_object_find(to, SIM_GRAPH_NODE);
    return *before == NULL || *after == NULL || (*before)->graph != graph || (*after)->graph != graph ||
                   *before == *after
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

typedef CUresult for_edge(struct sim_graph_node *from, struct sim_graph_node *to, struct sim_graph_edge edge,
                          bool exact);

static CUresult add(struct sim_graph_node *from, struct sim_graph_node *to, struct sim_graph_edge edge,
                    bool exact)
{
    (void)exact;
    if (sim_graph_find_dependency(to, from) < to->dependency_count || !is_valid(edge, from, to))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_graph_add_dependency(to, from, edge) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult take(struct sim_graph_node *from, struct sim_graph_node *to, struct sim_graph_edge edge,
                     bool exact)
{
    const size_t at = sim_graph_find_dependency(to, from);
    if (at == to->dependency_count ||
        (exact && (to->edges[at].from_port != edge.from_port || to->edges[at].type != edge.type)))
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_remove_dependency(to, at);
    return CUDA_SUCCESS;
}

struct edges {
    const CUgraphNode *from;
    const CUgraphNode *to;
    const struct sim_graph_edge *data; /* NULL: plain edges */
    size_t count;
    bool exact; /* the edge's data must match */
};

static CUresult for_edges(CUgraph hGraph, const struct edges *edges, bool keeps_memory, for_edge *each)
{
    struct sim_context *context;
    struct sim_graph *graph;
    CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (edges->count != 0 && (edges->from == NULL || edges->to == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (keeps_memory && sim_graph_has(graph, SIM_GRAPH_MEMORY))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < edges->count && result == CUDA_SUCCESS; i++) {
        struct sim_graph_node *from;
        struct sim_graph_node *to;
        const struct sim_graph_edge plain = {0, 0};
        result = find(graph, edges->from[i], edges->to[i], &from, &to);
        if (result == CUDA_SUCCESS)
            result = each(from, to, edges->data == NULL ? plain : edges->data[i], edges->exact);
    }
    return result;
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t numDependencies)
{
    return for_edges(hGraph, &(struct edges){from, to, NULL, numDependencies, false}, false, add);
}

/* Removes the edges whatever their data: this variant of the call has no edge data. */
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t numDependencies)
{
    return for_edges(hGraph, &(struct edges){from, to, NULL, numDependencies, false}, true, take);
}

/* An output list. With `nodes` NULL only the length is returned; else as much as fits, followed by NULLs.
 * With `data` NULL the edges must be plain. */
struct list {
    CUgraphNode *from;
    CUgraphNode *to;
    void *data;
    size_t *length;
    size_t count;
    bool lossy;
};

static void put_data(void *data, size_t at, struct sim_graph_edge edge);

static void give(struct list *list, const struct sim_graph_node *from, const struct sim_graph_node *to,
                 struct sim_graph_edge edge)
{
    const bool wanted = list->from != NULL || list->to != NULL;
    if (wanted && list->count < *list->length) {
        if (list->from != NULL)
            list->from[list->count] = (CUgraphNode)from;
        if (list->to != NULL)
            list->to[list->count] = (CUgraphNode)to;
        if (list->data != NULL)
            put_data(list->data, list->count, edge);
        list->lossy = list->lossy || (list->data == NULL && !is_plain(edge));
    }
    list->count++;
}

static CUresult close_list(struct list *list)
{
    if (list->lossy)
        return LOSSY_QUERY;
    const bool wanted = list->from != NULL || list->to != NULL;
    for (size_t i = list->count; wanted && i < *list->length; i++) {
        if (list->from != NULL)
            list->from[i] = NULL;
        if (list->to != NULL)
            list->to[i] = NULL;
    }
    if (!wanted || list->count < *list->length)
        *list->length = list->count;
    return CUDA_SUCCESS;
}

static CUresult get_edges(CUgraph hGraph, struct list *list)
{
    struct sim_context *context;
    struct sim_graph *graph;
    const CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (list->length == NULL || (list->from == NULL) != (list->to == NULL) ||
        (list->data != NULL && list->from == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t d = 0; d < graph->nodes[i]->dependency_count; d++)
            give(list, graph->nodes[i]->dependencies[d], graph->nodes[i], graph->nodes[i]->edges[d]);
    return close_list(list);
}

static CUresult get_dependencies(CUgraphNode hNode, struct list *list)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, list->length, &node);
    if (result != CUDA_SUCCESS || (list->data != NULL && list->from == NULL))
        return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
    for (size_t d = 0; d < node->dependency_count; d++)
        give(list, node->dependencies[d], node, node->edges[d]);
    return close_list(list);
}

static CUresult get_dependents(CUgraphNode hNode, struct list *list)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find_any(hNode, list->length, &node);
    if (result != CUDA_SUCCESS || (list->data != NULL && list->to == NULL))
        return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
    for (size_t i = 0; i < node->graph->node_count; i++) {
        const struct sim_graph_node *other = node->graph->nodes[i];
        const size_t at = sim_graph_find_dependency(other, node);
        if (at < other->dependency_count)
            give(list, node, other, other->edges[at]);
    }
    return close_list(list);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return get_edges(hGraph, &(struct list){.from = from, .to = to, .length = numEdges});
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    return get_dependencies(hNode, &(struct list){.from = dependencies, .length = numDependencies});
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                      size_t *numDependentNodes)
{
    return get_dependents(hNode, &(struct list){.to = dependentNodes, .length = numDependentNodes});
}

#if CUDA_VERSION >= 12030
static void put_data(void *data, size_t at, struct sim_graph_edge edge)
{
    ((CUgraphEdgeData *)data)[at] = (CUgraphEdgeData){.from_port = edge.from_port, .type = edge.type};
}

CUresult sim_graph_edges_read(const CUgraphEdgeData *data, size_t count, struct sim_graph_edge **edges)
{
    static const unsigned char zeros[sizeof data->reserved];
    *edges = malloc((count + 1) * sizeof(**edges));
    if (*edges == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (data != NULL && (data[i].to_port != 0 || memcmp(data[i].reserved, zeros, sizeof zeros) != 0)) {
            free(*edges);
            return CUDA_ERROR_INVALID_VALUE;
        }
        (*edges)[i] = data == NULL ? (struct sim_graph_edge){0, 0}
                                   : (struct sim_graph_edge){data[i].from_port, data[i].type};
    }
    return CUDA_SUCCESS;
}

static CUresult for_edges_with_data(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                    const CUgraphEdgeData *data, size_t count, bool keeps_memory,
                                    for_edge *each)
{
    struct sim_graph_edge *edges;
    CUresult result = sim_graph_edges_read(data, count, &edges);
    if (result != CUDA_SUCCESS)
        return result;
    result = for_edges(hGraph, &(struct edges){from, to, edges, count, true}, keeps_memory, each);
    free(edges);
    return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    return for_edges_with_data(hGraph, from, to, edgeData, numDependencies, false, add);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    return for_edges_with_data(hGraph, from, to, edgeData, numDependencies, true, take);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                            size_t *numEdges)
{
    return get_edges(hGraph, &(struct list){.from = from, .to = to, .data = edgeData, .length = numEdges});
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                       CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    return get_dependencies(
        hNode, &(struct list){.from = dependencies, .data = edgeData, .length = numDependencies});
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                         CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    return get_dependents(
        hNode, &(struct list){.to = dependentNodes, .data = edgeData, .length = numDependentNodes});
}
#else
static void put_data(void *data, size_t at, struct sim_graph_edge edge)
{
    (void)data;
    (void)at;
    (void)edge;
}
#endif
