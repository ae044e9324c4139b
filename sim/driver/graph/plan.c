#include "driver/graph/plan.h"

#include "driver/context/context.h"
#include "driver/graph/condition.h"

#include <stdlib.h>

static void dispose(struct sim_object *object)
{
    struct sim_graph_plan *plan = (struct sim_graph_plan *)object;
    if (plan->graph != NULL)
        sim_graph_close(plan->graph);
    free(plan);
}

enum mark { UNSEEN, OPEN, PLACED };

struct visit {
    struct sim_graph_node *node;
    size_t next; /* index of the next dependency to visit */
};

/* Sort topologically, depth first in order of creation: nodes created in a valid order keep it. Iterative,
 * because chains may be long. Returns a node on a cycle, or NULL. */
static struct sim_graph_node *place(const struct sim_graph *graph, unsigned char *marks, struct visit *stack)
{
    size_t placed = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t depth = 0;
        if (marks[i] == UNSEEN)
            stack[depth++] = (struct visit){graph->nodes[i], 0};
        while (depth > 0) {
            struct visit *top = &stack[depth - 1];
            marks[top->node->position] = OPEN;
            if (top->next == top->node->dependency_count) {
                marks[top->node->position] = PLACED;
                graph->order[placed++] = top->node;
                depth--;
                continue;
            }
            struct sim_graph_node *on = top->node->dependencies[top->next++];
            if (marks[on->position] == OPEN)
                return top->node;
            if (marks[on->position] == UNSEEN)
                stack[depth++] = (struct visit){on, 0};
        }
    }
    return NULL;
}

static CUresult arrange(struct sim_graph *graph, const struct sim_graph_node **bad)
{
    const size_t count = graph->node_count;
    unsigned char *marks = calloc(count + 1, 1);
    struct visit *stack = malloc((count + 1) * sizeof(*stack));
    graph->order = malloc((count + 1) * sizeof(struct sim_graph_node *));
    CUresult result =
        marks == NULL || stack == NULL || graph->order == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        *bad = place(graph, marks, stack);
        result = *bad == NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    free(marks);
    free(stack);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work) && result == CUDA_SUCCESS; g++)
            result = arrange(sim_graph_inner(&graph->nodes[i]->work, g), bad);
    return result;
}

/* The node of `graph`, at any depth, that `copy` was made from. */
static const struct sim_graph_node *find_original(const struct sim_graph *graph,
                                                  const struct sim_graph_node *copy)
{
    const struct sim_graph_node *found = NULL;
    for (size_t i = 0; i < graph->node_count && found == NULL; i++) {
        const struct sim_graph_node *node = graph->nodes[i];
        if (graph->id == copy->graph->origin && node->id == copy->origin)
            found = node;
        for (size_t g = 0; g < sim_graph_inner_count(&node->work) && found == NULL; g++)
            found = find_original(sim_graph_inner(&node->work, g), copy);
    }
    return found;
}

static CUresult make(const struct sim_graph *graph, struct sim_graph_plan **made,
                     const struct sim_graph_node **bad)
{
    struct sim_graph_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&plan->object, SIM_GRAPH_EXEC, NULL, dispose);
    CUresult result = sim_graph_clone(graph, false, &plan->graph);
    if (result == CUDA_SUCCESS)
        result = arrange(plan->graph, bad);
    if (*bad != NULL)
        *bad = find_original(graph, *bad);
    if (result != CUDA_SUCCESS) {
        sim_object_release(plan);
        return result;
    }
    plan->has_memory = sim_graph_has(plan->graph, SIM_GRAPH_MEMORY);
    *made = plan;
    return CUDA_SUCCESS;
}

CUresult sim_graph_plan_make(const struct sim_graph *graph, struct sim_graph_plan **plan,
                             const struct sim_graph_node **bad)
{
    *bad = NULL;
    return make(graph, plan, bad);
}

/* The copy has the same origins as the plan itself. */
static void inherit(struct sim_graph *copy, const struct sim_graph *graph)
{
    copy->origin = graph->origin;
    for (size_t i = 0; i < graph->node_count; i++) {
        copy->nodes[i]->origin = graph->nodes[i]->origin;
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work); g++)
            inherit(sim_graph_inner(&copy->nodes[i]->work, g), sim_graph_inner(&graph->nodes[i]->work, g));
    }
}

CUresult sim_graph_plan_clone(const struct sim_graph_plan *plan, struct sim_graph_plan **copy)
{
    const struct sim_graph_node *bad = NULL;
    const CUresult result = make(plan->graph, copy, &bad);
    if (result == CUDA_SUCCESS)
        inherit((*copy)->graph, plan->graph);
    return result;
}

/* Nodes are sorted by id, and so are their clones. */
static struct sim_graph_node *find_here(const struct sim_graph *graph, unsigned id)
{
    size_t low = 0;
    size_t high = graph->node_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->nodes[middle]->origin < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->node_count && graph->nodes[low]->origin == id ? graph->nodes[low] : NULL;
}

static struct sim_graph_node *find(const struct sim_graph *graph, const struct sim_graph_node *node)
{
    if (graph->origin == node->graph->id)
        return find_here(graph, node->id);
    struct sim_graph_node *found = NULL;
    for (size_t i = 0; i < graph->node_count && found == NULL; i++)
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work) && found == NULL; g++)
            found = find(sim_graph_inner(&graph->nodes[i]->work, g), node);
    return found;
}

struct sim_graph_node *sim_graph_plan_find(const struct sim_graph_plan *plan,
                                           const struct sim_graph_node *node)
{
    return find(plan->graph, node);
}

static CUresult walk(const struct sim_graph *graph, sim_graph_visit *visit, void *data)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++) {
        result = visit(graph->order[i], data);
        const struct sim_work *work = &graph->order[i]->work;
        for (size_t g = 0; g < sim_graph_inner_count(work) && result == CUDA_SUCCESS; g++)
            result = walk(sim_graph_inner(work, g), visit, data);
    }
    return result;
}

CUresult sim_graph_plan_walk(const struct sim_graph_plan *plan, sim_graph_visit *visit, void *data)
{
    return walk(plan->graph, visit, data);
}

static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                const struct sim_graph *graph);

static void run_condition(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                          const struct sim_graph_condition *condition)
{
    const struct sim_graph *body = sim_graph_condition_choose(condition);
    while (body != NULL && !atomic_load(sim_context_cancel_flag(context)) &&
           sim_context_error(context) == CUDA_SUCCESS) {
        run(context, stream, number, body);
        body = condition->type == SIM_CONDITION_WHILE ? sim_graph_condition_choose(condition) : NULL;
    }
}

static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                const struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        struct sim_graph_node *node = graph->order[i];
        if (node->disabled)
            continue;
        if (node->work.kind == SIM_WORK_CHILD)
            run(context, stream, number, node->work.child);
        else if (node->work.kind == SIM_WORK_CONDITION)
            run_condition(context, stream, number, node->work.condition);
        else
            sim_work_run(context, stream, number, &node->work);
    }
}

static void run_plan(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    sim_graph_handles_reset(work->plan->graph);
    run(context, stream, number, work->plan->graph);
}

struct place {
    struct sim_stream *stream;
    uint64_t number;
};

static CUresult place_node(struct sim_graph_node *node, void *data)
{
    const struct place *at = data;
    sim_work_place(&node->work, at->stream, at->number);
    return CUDA_SUCCESS;
}

/* The events that a plan records happen at the place of its launch. */
static void place_plan(const struct sim_work *work, struct sim_stream *stream, uint64_t number)
{
    (void)sim_graph_plan_walk(work->plan, place_node, &(struct place){stream, number});
}

static CUresult clone_plan(struct sim_work *copy, const struct sim_work *work, bool published)
{
    (void)copy, (void)published;
    sim_object_retain(work->plan);
    return CUDA_SUCCESS;
}

static void clear_plan(struct sim_work *work)
{
    sim_object_release(work->plan);
}

const struct sim_work_class sim_plan_work = {
    .run = run_plan, .clone = clone_plan, .clear = clear_plan, .place = place_plan};
