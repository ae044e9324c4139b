#include "driver/graph/condition.h"

#include "driver/context/context.h"
#include "driver/graph/handle.h"
#include "driver/graph/node.h"

#include <stdlib.h>

void sim_graph_handles_reset(const struct sim_graph *graph)
{
    for (const struct sim_graph_handle *handle = graph->handles; handle != NULL; handle = handle->next)
        if (handle->value->has_initial)
            atomic_store(sim_condition_word(handle->value), handle->value->initial);
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work); g++)
            sim_graph_handles_reset(sim_graph_inner(&graph->nodes[i]->work, g));
}

CUdeviceptr sim_graph_condition_handle(const struct sim_graph_condition *condition)
{
    return condition->value->address;
}

const struct sim_graph *sim_graph_condition_choose(const struct sim_graph_condition *condition)
{
    const uint32_t value = atomic_load(sim_condition_word(condition->value));
    switch (condition->type) {
    case SIM_CONDITION_IF:
        return value != 0 ? condition->bodies[0] : condition->size == 2 ? condition->bodies[1] : NULL;
    case SIM_CONDITION_WHILE:
        return value != 0 ? condition->bodies[0] : NULL;
    default:
        return value < condition->size ? condition->bodies[value] : NULL;
    }
}

/* Has room for `size` bodies, but none yet. */
static struct sim_graph_condition *make(struct sim_condition_value *value, enum sim_condition_type type,
                                        unsigned size)
{
    struct sim_graph_condition *condition = calloc(1, sizeof(*condition) + size * sizeof(struct sim_graph *));
    if (condition != NULL) {
        condition->value = sim_object_retain(value);
        condition->type = type;
    }
    return condition;
}

static void destroy_condition(struct sim_graph_condition *condition)
{
    for (unsigned i = 0; i < condition->size; i++)
        sim_graph_close(condition->bodies[i]);
    sim_object_release(condition->value);
    free(condition);
}

void sim_graph_condition_update(const struct sim_graph_condition *old, const struct sim_graph_condition *new)
{
    old->value->initial = new->value->initial;
    old->value->has_initial = new->value->has_initial;
}

static CUresult clone_work(struct sim_work *made, const struct sim_work *work, bool published)
{
    const struct sim_graph_condition *condition = work->condition;
    struct sim_graph_condition *copy = make(condition->value, condition->type, condition->size);
    CUresult result = copy == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && copy->size < condition->size) {
        result = sim_graph_clone(condition->bodies[copy->size], published, &copy->bodies[copy->size]);
        copy->size += result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        made->condition = copy;
    else if (copy != NULL)
        destroy_condition(copy);
    return result;
}

static void clear(struct sim_work *work)
{
    destroy_condition(work->condition);
}

const struct sim_work_class sim_condition_work = {.clone = clone_work, .clear = clear};

#if CUDA_VERSION >= 12030
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx,
                                        unsigned int defaultLaunchValue, unsigned int flags)
{
    struct sim_context *context;
    struct sim_graph *graph;
    CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (ctx == NULL || sim_enter_with(ctx, &context) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pHandle_out == NULL || (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_condition_value *value = sim_condition_value_make();
    if (value == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUdeviceptr address = value->address;
    value->context = context;
    value->initial = defaultLaunchValue;
    value->has_initial = flags != 0;
    result = sim_graph_handles_add(&graph->handles, value);
    sim_object_release(value);
    if (result == CUDA_SUCCESS)
        *pHandle_out = address;
    return result;
}

/* A handle may be used by a node of its graph or of a graph nested in it. */
static struct sim_condition_value *find(const struct sim_graph *graph, CUgraphConditionalHandle handle)
{
    struct sim_condition_value *value = NULL;
    for (; graph != NULL && value == NULL; graph = graph->parent == NULL ? NULL : graph->parent->graph)
        value = sim_graph_handles_find(graph->handles, handle);
    return value;
}

static bool is_size(enum sim_condition_type type, unsigned size)
{
    return size != 0 &&
           (type == SIM_CONDITION_SWITCH || size == 1 || (type == SIM_CONDITION_IF && size == 2));
}

CUresult sim_graph_condition_make(const CUDA_CONDITIONAL_NODE_PARAMS *parameters,
                                  const struct sim_graph *graph, struct sim_work *work)
{
    struct sim_context *context;
    const enum sim_condition_type type = (enum sim_condition_type)parameters->type;
    struct sim_condition_value *value = find(graph, parameters->handle);
    if (parameters->ctx == NULL || sim_enter_with(parameters->ctx, &context) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (value == NULL || value->used || value->context != context || type > SIM_CONDITION_SWITCH ||
        !is_size(type, parameters->size))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_graph_condition *condition = make(value, type, parameters->size);
    if (condition == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    while (condition->size < parameters->size) {
        condition->bodies[condition->size] = sim_graph_make();
        if (condition->bodies[condition->size] == NULL) {
            destroy_condition(condition);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        condition->size++;
    }
    value->used = true;
    *work = (struct sim_work){.kind = SIM_WORK_CONDITION, .condition = condition};
    return CUDA_SUCCESS;
}

void sim_graph_condition_describe(const struct sim_graph_node *node, CUDA_CONDITIONAL_NODE_PARAMS *parameters)
{
    const struct sim_graph_condition *condition = node->work.condition;
    *parameters = (CUDA_CONDITIONAL_NODE_PARAMS){.handle = sim_graph_condition_handle(condition),
                                                 .type = (CUgraphConditionalNodeType)condition->type,
                                                 .size = condition->size,
                                                 .phGraph_out = (CUgraph *)condition->bodies,
                                                 .ctx = (CUcontext)condition->value->context};
}
#endif
