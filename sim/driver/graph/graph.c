#include "driver/graph/graph.h"

#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/graph/handle.h"
#include "driver/graph/user_object.h"

#include <stdlib.h>
#include <string.h>

static atomic_uint next_id = 1;

static void dispose_node(struct sim_object *object)
{
    struct sim_graph_node *node = (struct sim_graph_node *)object;
    sim_work_clear(&node->work);
    free(node->copy);
    free(node->arguments);
    free(node->attributes);
    free(node->dependencies);
    free(node->edges);
    free(node);
}

static void dispose_graph(struct sim_object *object)
{
    struct sim_graph *graph = (struct sim_graph *)object;
    for (size_t i = 0; i < graph->node_count; i++)
        sim_object_release(graph->nodes[i]);
    sim_user_release_all(&graph->users);
    sim_graph_handles_clear(&graph->handles);
    free(graph->nodes);
    free(graph->order);
    free(graph);
}

static struct sim_graph *make(bool published)
{
    struct sim_graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL)
        return NULL;
    sim_object_init(&graph->object, SIM_GRAPH, NULL, dispose_graph);
    graph->id = atomic_fetch_add(&next_id, 1);
    if (published && !sim_object_publish(graph)) {
        sim_object_release(graph);
        return NULL;
    }
    return graph;
}

struct sim_graph *sim_graph_make(void)
{
    return make(true);
}

/* Withdraws nested graphs too: an executable graph may hold a reference after the handles are gone. */
static void withdraw(struct sim_graph *graph)
{
    (void)sim_object_withdraw(graph, SIM_GRAPH);
    for (size_t i = 0; i < graph->node_count; i++) {
        (void)sim_object_withdraw(graph->nodes[i], SIM_GRAPH_NODE);
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work); g++)
            withdraw(sim_graph_inner(&graph->nodes[i]->work, g));
    }
}

void sim_graph_close(struct sim_graph *graph)
{
    withdraw(graph);
    sim_object_release(graph);
}

size_t sim_graph_inner_count(const struct sim_work *work)
{
    return work->kind == SIM_WORK_CHILD ? 1 : work->kind == SIM_WORK_CONDITION ? work->condition->size : 0;
}

struct sim_graph *sim_graph_inner(const struct sim_work *work, size_t index)
{
    return work->kind == SIM_WORK_CHILD ? work->child : work->condition->bodies[index];
}

bool sim_graph_has(const struct sim_graph *graph, unsigned long kinds)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct sim_work *work = &graph->nodes[i]->work;
        if ((kinds >> work->kind & 1u) != 0)
            return true;
        for (size_t g = 0; g < sim_graph_inner_count(work); g++)
            if (sim_graph_has(sim_graph_inner(work, g), kinds))
                return true;
    }
    return false;
}

bool sim_graph_add_dependency(struct sim_graph_node *node, struct sim_graph_node *on,
                              struct sim_graph_edge edge)
{
    const size_t count = node->dependency_count + 1;
    struct sim_graph_node **nodes = realloc(node->dependencies, count * sizeof(struct sim_graph_node *));
    if (nodes != NULL)
        node->dependencies = nodes;
    struct sim_graph_edge *edges = realloc(node->edges, count * sizeof(*edges));
    if (edges != NULL)
        node->edges = edges;
    if (nodes == NULL || edges == NULL)
        return false;
    nodes[count - 1] = on;
    edges[count - 1] = edge;
    node->dependency_count = count;
    return true;
}

void sim_graph_remove_dependency(struct sim_graph_node *node, size_t dependency)
{
    const size_t behind = --node->dependency_count - dependency;
    memmove(node->dependencies + dependency, node->dependencies + dependency + 1,
            behind * sizeof(struct sim_graph_node *));
    memmove(node->edges + dependency, node->edges + dependency + 1, behind * sizeof(*node->edges));
}

size_t sim_graph_find_dependency(const struct sim_graph_node *node, const struct sim_graph_node *on)
{
    size_t i = 0;
    while (i < node->dependency_count && node->dependencies[i] != on)
        i++;
    return i;
}

/* Point to each parameter in the node's own copy. */
static bool make_arguments(struct sim_graph_node *node)
{
    if (node->work.kind != SIM_WORK_LAUNCH)
        return true;
    const struct sim_launch *launch = &node->work.launch;
    const size_t count = ptx_kernel_parameter_count(launch->function->ptx);
    void **arguments = calloc(count + 1, sizeof(*arguments));
    if (arguments == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t offset;
        size_t bytes;
        ptx_kernel_parameter(launch->function->ptx, i, &offset, &bytes);
        arguments[i] = launch->parameters + offset;
    }
    free(node->arguments);
    node->arguments = arguments;
    return true;
}

static void adopt(struct sim_graph_node *node)
{
    for (size_t i = 0; i < sim_graph_inner_count(&node->work); i++)
        sim_graph_inner(&node->work, i)->parent = node;
}

static CUresult append(struct sim_graph *graph, bool published, struct sim_work *work,
                       struct sim_graph_node **made)
{
    struct sim_graph_node *node = calloc(1, sizeof(*node));
    struct sim_graph_node **longer =
        realloc(graph->nodes, (graph->node_count + 1) * sizeof(struct sim_graph_node *));
    if (longer != NULL)
        graph->nodes = longer;
    if (node == NULL || longer == NULL) {
        free(node);
        sim_work_clear(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&node->object, SIM_GRAPH_NODE, NULL, dispose_node);
    node->graph = graph;
    node->context = sim_context_current();
    node->work = *work;
    node->id = graph->next_node;
    node->position = graph->node_count;
    if (!make_arguments(node) || (published && !sim_object_publish(node))) {
        sim_object_release(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    adopt(node);
    graph->next_node++;
    graph->nodes[graph->node_count++] = node;
    *made = node;
    return CUDA_SUCCESS;
}

/* A child graph may not contain allocations or conditions, at any depth. Bodies of conditional nodes are
 * checked when the graph is instantiated (driver 580). */
static bool may_have(const struct sim_graph *graph, enum sim_work_kind kind)
{
    const unsigned long refused = SIM_GRAPH_MEMORY | SIM_GRAPH_CONDITIONAL;
    for (const struct sim_graph_node *parent = graph->parent; parent != NULL; parent = parent->graph->parent)
        if (parent->work.kind == SIM_WORK_CHILD && (refused >> kind & 1u) != 0)
            return false;
    return true;
}

CUresult sim_graph_keep_copy(struct sim_graph_node *node, const CUDA_MEMCPY3D *parameters)
{
    if (node->copy == NULL)
        node->copy = malloc(sizeof(*node->copy));
    if (node->copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *node->copy = *parameters;
    return CUDA_SUCCESS;
}

CUresult sim_graph_keep_attributes(struct sim_graph_node *node, const struct sim_graph_attributes *attributes)
{
    struct sim_graph_attributes *copy = attributes == NULL ? NULL : malloc(sizeof(*copy));
    if (attributes != NULL && copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (attributes != NULL)
        *copy = *attributes;
    free(node->attributes);
    node->attributes = copy;
    return CUDA_SUCCESS;
}

CUresult sim_graph_add(struct sim_graph *graph, struct sim_graph_node *const *dependencies, size_t count,
                       struct sim_work *work, struct sim_graph_node **made)
{
    struct sim_graph_node *node;
    CUresult result =
        may_have(graph, work->kind) ? sim_work_enter_graph(work, graph) : CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS) {
        sim_work_clear(work);
        return result;
    }
    result = append(graph, true, work, &node);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (!sim_graph_add_dependency(node, dependencies[i], (struct sim_graph_edge){0, 0})) {
            sim_graph_remove(node);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    if (result == CUDA_SUCCESS)
        *made = node;
    return result;
}

CUresult sim_graph_replace(struct sim_graph_node *node, struct sim_work *work)
{
    struct sim_work before = node->work;
    node->work = *work;
    if (!make_arguments(node)) {
        node->work = before;
        sim_work_clear(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_work_clear(&before);
    return CUDA_SUCCESS;
}

void sim_graph_remove(struct sim_graph_node *node)
{
    struct sim_graph *graph = node->graph;
    graph->node_count--;
    for (size_t i = node->position; i < graph->node_count; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->position = i;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const size_t at = sim_graph_find_dependency(graph->nodes[i], node);
        if (at < graph->nodes[i]->dependency_count)
            sim_graph_remove_dependency(graph->nodes[i], at);
    }
    (void)sim_object_withdraw(node, SIM_GRAPH_NODE);
    sim_object_release(node);
}

static CUresult clone_node(const struct sim_graph_node *node, bool published, struct sim_graph *graph)
{
    struct sim_work work;
    struct sim_graph_node *copy;
    CUresult result = sim_work_clone(&work, &node->work, published);
    if (result == CUDA_SUCCESS)
        result = append(graph, published, &work, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    copy->origin = node->id;
    copy->cloned = true;
    copy->context = node->context;
    copy->disabled = node->disabled;
    result = sim_graph_keep_attributes(copy, node->attributes);
    return result == CUDA_SUCCESS && node->copy != NULL ? sim_graph_keep_copy(copy, node->copy) : result;
}

CUresult sim_graph_clone(const struct sim_graph *graph, bool published, struct sim_graph **made)
{
    struct sim_graph *copy = make(published);
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    copy->origin = graph->id;
    CUresult result = sim_user_copy_all(&copy->users, graph->users);
    if (result == CUDA_SUCCESS)
        result = sim_graph_handles_copy(&copy->handles, graph->handles);
    for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++)
        result = clone_node(graph->nodes[i], published, copy);
    /* Edges come last: a node may depend on a node that was made later. */
    for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++) {
        const struct sim_graph_node *node = graph->nodes[i];
        for (size_t d = 0; d < node->dependency_count && result == CUDA_SUCCESS; d++)
            if (!sim_graph_add_dependency(copy->nodes[i], copy->nodes[node->dependencies[d]->position],
                                          node->edges[d]))
                result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS) {
        sim_graph_close(copy);
        return result;
    }
    *made = copy;
    return CUDA_SUCCESS;
}

static CUresult clone_child(struct sim_work *copy, const struct sim_work *work, bool published)
{
    return sim_graph_clone(work->child, published, &copy->child);
}

static void clear_child(struct sim_work *work)
{
    sim_graph_close(work->child);
}

/* sim_plan_work runs child graphs and the bodies of conditional nodes. */
const struct sim_work_class sim_child_work = {.clone = clone_child, .clear = clear_child};
