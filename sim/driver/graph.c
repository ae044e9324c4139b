#include "graph.h"

#include "context.h"
#include "event.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

static void dispose_node(struct sim_object *object)
{
    struct sim_graph_node *node = (struct sim_graph_node *)object;
    if (node->work.kind == SIM_WORK_CHILD) {
        sim_graph_close(node->work.child);
        node->work.kind = SIM_WORK_NONE;
    }
    sim_work_clear(&node->work);
    free(node->arguments);
    free(node->dependencies);
    free(node);
}

static void dispose_graph(struct sim_object *object)
{
    struct sim_graph *graph = (struct sim_graph *)object;
    for (size_t i = 0; i < graph->node_count; i++)
        sim_object_release(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
}

struct sim_graph *sim_graph_make(void)
{
    struct sim_graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL)
        return NULL;
    sim_object_init(&graph->object, SIM_GRAPH, NULL, dispose_graph);
    if (!sim_object_publish(graph)) {
        sim_object_release(graph);
        return NULL;
    }
    return graph;
}

void sim_graph_close(struct sim_graph *graph)
{
    (void)sim_object_withdraw(graph, SIM_GRAPH);
    for (size_t i = 0; i < graph->node_count; i++)
        (void)sim_object_withdraw(graph->nodes[i], SIM_GRAPH_NODE);
    sim_object_release(graph);
}

bool sim_graph_depend(struct sim_graph_node *node, struct sim_graph_node *on)
{
    struct sim_graph_node **longer =
        realloc(node->dependencies, (node->dependency_count + 1) * sizeof(*longer));
    if (longer == NULL)
        return false;
    node->dependencies = longer;
    longer[node->dependency_count++] = on;
    return true;
}

/* Pointers to each parameter inside the node's own copy. */
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

CUresult sim_graph_add(struct sim_graph *graph, struct sim_graph_node *const *dependencies, size_t count,
                       struct sim_work *work, struct sim_graph_node **made)
{
    struct sim_graph_node *node = calloc(1, sizeof(*node));
    struct sim_graph_node **longer = realloc(graph->nodes, (graph->node_count + 1) * sizeof(*longer));
    if (longer != NULL)
        graph->nodes = longer;
    if (node == NULL || longer == NULL) {
        free(node);
        sim_work_clear(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&node->object, SIM_GRAPH_NODE, NULL, dispose_node);
    node->graph = graph;
    node->work = *work;
    bool complete = make_arguments(node);
    for (size_t i = 0; i < count && complete; i++)
        complete = sim_graph_depend(node, dependencies[i]);
    if (!complete || !sim_object_publish(node)) {
        sim_object_release(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph->nodes[graph->node_count++] = node;
    *made = node;
    return CUDA_SUCCESS;
}

static size_t index_of(const struct sim_graph *graph, const struct sim_graph_node *node)
{
    size_t i = 0;
    while (i < graph->node_count && graph->nodes[i] != node)
        i++;
    return i;
}

static CUresult clone_work(const struct sim_work *work, struct sim_work *copy)
{
    if (work->kind == SIM_WORK_CHILD) {
        *copy = (struct sim_work){.kind = SIM_WORK_CHILD};
        return sim_graph_clone(work->child, &copy->child);
    }
    return sim_work_clone(copy, work) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **made)
{
    CUresult result = CUDA_SUCCESS;
    struct sim_graph *copy = sim_graph_make();
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++) {
        struct sim_work work;
        struct sim_graph_node *node;
        result = clone_work(&graph->nodes[i]->work, &work);
        if (result == CUDA_SUCCESS)
            result = sim_graph_add(copy, NULL, 0, &work, &node);
        if (result == CUDA_SUCCESS)
            node->origin = graph->nodes[i];
    }
    /* Edges afterwards: a dependency may have been made later than the node that has it. */
    for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++)
        for (size_t d = 0; d < graph->nodes[i]->dependency_count && result == CUDA_SUCCESS; d++)
            if (!sim_graph_depend(copy->nodes[i],
                                  copy->nodes[index_of(graph, graph->nodes[i]->dependencies[d])]))
                result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        sim_graph_close(copy);
        return result;
    }
    *made = copy;
    return CUDA_SUCCESS;
}

static void dispose_plan(struct sim_object *object)
{
    struct sim_graph_plan *plan = (struct sim_graph_plan *)object;
    for (size_t i = 0; i < plan->count; i++)
        sim_work_clear(&plan->steps[i].work);
    free(plan);
}

static size_t count_steps(const struct sim_graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct sim_work *work = &graph->nodes[i]->work;
        count += work->kind == SIM_WORK_CHILD ? count_steps(work->child) : 1;
    }
    return count;
}

static struct sim_graph_plan *plan_of(size_t count)
{
    struct sim_graph_plan *plan = calloc(1, sizeof(*plan) + count * sizeof(plan->steps[0]));
    if (plan != NULL)
        sim_object_init(&plan->object, SIM_GRAPH_EXEC, NULL, dispose_plan);
    return plan;
}

static CUresult append(const struct sim_graph *graph, struct sim_graph_plan *plan);

static CUresult append_node(const struct sim_graph_node *node, struct sim_graph_plan *plan)
{
    if (node->work.kind == SIM_WORK_CHILD)
        return append(node->work.child, plan);
    struct sim_graph_step *step = &plan->steps[plan->count];
    if (!sim_work_clone(&step->work, &node->work)) {
        step->work.kind = SIM_WORK_NONE;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    step->source = node;
    plan->count++;
    return CUDA_SUCCESS;
}

/* Rounds over the nodes, each taking those whose dependencies are all placed, oldest first. */
static CUresult append(const struct sim_graph *graph, struct sim_graph_plan *plan)
{
    bool *placed = calloc(graph->node_count + 1, sizeof(*placed));
    CUresult result = placed == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    for (size_t left = graph->node_count; left > 0 && result == CUDA_SUCCESS;) {
        const size_t before = left;
        for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++) {
            const struct sim_graph_node *node = graph->nodes[i];
            bool ready = !placed[i];
            for (size_t d = 0; d < node->dependency_count && ready; d++)
                ready = placed[index_of(graph, node->dependencies[d])];
            if (ready) {
                result = append_node(node, plan);
                placed[i] = true;
                left--;
            }
        }
        if (left == before)
            result = CUDA_ERROR_INVALID_VALUE; /* a cycle */
    }
    free(placed);
    return result;
}

CUresult sim_graph_plan_make(const struct sim_graph *graph, struct sim_graph_plan **made)
{
    struct sim_graph_plan *plan = plan_of(count_steps(graph));
    if (plan == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = append(graph, plan);
    if (result == CUDA_SUCCESS)
        *made = plan;
    else
        sim_object_release(plan);
    return result;
}

CUresult sim_graph_plan_clone(const struct sim_graph_plan *plan, struct sim_graph_plan **made)
{
    struct sim_graph_plan *copy = plan_of(plan->count);
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (; copy->count < plan->count; copy->count++) {
        struct sim_graph_step *step = &copy->steps[copy->count];
        step->source = plan->steps[copy->count].source;
        if (!sim_work_clone(&step->work, &plan->steps[copy->count].work)) {
            step->work.kind = SIM_WORK_NONE;
            sim_object_release(copy);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *made = copy;
    return CUDA_SUCCESS;
}

void sim_graph_plan_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                        struct sim_graph_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        sim_work_run(context, stream, number, &plan->steps[i].work);
}

void sim_graph_plan_place_events(struct sim_graph_plan *plan, struct sim_stream *stream, uint64_t number)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].work.kind == SIM_WORK_RECORD)
            sim_event_place(plan->steps[i].work.event, stream, number);
}
