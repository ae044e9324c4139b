#include "driver/graph/condition.h"

#include "driver/context/context.h"
#include "driver/graph/node.h"
#include "driver/memory/memory.h"

#include <stdlib.h>

/* What a handle stands for: a word of device memory. The handle is that word's address, so that a kernel
 * which knows the handle can set it by a plain store. */
struct sim_condition_value {
    struct sim_object object; /* handles of a graph, its clones, and nodes hold references */
    uint64_t address;
    struct sim_context *context; /* to be compared */
    unsigned standard;           /* at the beginning of a launch */
    bool has_standard;
    bool used; /* by a node */
};

struct sim_graph_handle {
    struct sim_graph_handle *next;
    struct sim_condition_value *value;
};

static void dispose(struct sim_object *object)
{
    struct sim_condition_value *value = (struct sim_condition_value *)object;
    (void)sim_memory_free(value->address, 1u << SIM_MEMORY_DEVICE);
    free(value);
}

static CUresult keep(struct sim_graph *graph, struct sim_condition_value *value)
{
    struct sim_graph_handle *handle = malloc(sizeof(*handle));
    if (handle == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (struct sim_graph_handle){.next = graph->handles, .value = sim_object_retain(value)};
    graph->handles = handle;
    return CUDA_SUCCESS;
}

CUresult sim_graph_handles_copy(struct sim_graph *to, const struct sim_graph *from)
{
    CUresult result = CUDA_SUCCESS;
    for (const struct sim_graph_handle *handle = from->handles; handle != NULL && result == CUDA_SUCCESS;
         handle = handle->next)
        result = keep(to, handle->value);
    return result;
}

void sim_graph_handles_clear(struct sim_graph *graph)
{
    while (graph->handles != NULL) {
        struct sim_graph_handle *first = graph->handles;
        graph->handles = first->next;
        sim_object_release(first->value);
        free(first);
    }
}

static _Atomic uint32_t *word(const struct sim_condition_value *value)
{
    return (_Atomic uint32_t *)(uintptr_t)value->address;
}

void sim_graph_handles_reset(const struct sim_graph *graph)
{
    for (const struct sim_graph_handle *handle = graph->handles; handle != NULL; handle = handle->next)
        if (handle->value->has_standard)
            atomic_store(word(handle->value), handle->value->standard);
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t g = 0; g < sim_graph_inner_count(&graph->nodes[i]->work); g++)
            sim_graph_handles_reset(sim_graph_inner(&graph->nodes[i]->work, g));
}

bool sim_graph_handles_are_used(const struct sim_graph *graph)
{
    bool used = true;
    for (const struct sim_graph_handle *handle = graph->handles; handle != NULL && used;
         handle = handle->next)
        used = handle->value->used;
    return used;
}

CUdeviceptr sim_graph_condition_handle(const struct sim_graph_condition *condition)
{
    return condition->value->address;
}

const struct sim_graph *sim_graph_condition_choose(const struct sim_graph_condition *condition)
{
    const uint32_t value = atomic_load(word(condition->value));
    switch (condition->type) {
    case SIM_CONDITION_IF:
        return value != 0 ? condition->bodies[0] : condition->size == 2 ? condition->bodies[1] : NULL;
    case SIM_CONDITION_WHILE:
        return value != 0 ? condition->bodies[0] : NULL;
    default:
        return value < condition->size ? condition->bodies[value] : NULL;
    }
}

/* With room for its bodies, which are yet to be made. */
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

void sim_graph_condition_free(struct sim_graph_condition *condition)
{
    for (unsigned i = 0; i < condition->size; i++)
        sim_graph_close(condition->bodies[i]);
    sim_object_release(condition->value);
    free(condition);
}

void sim_graph_condition_update(const struct sim_graph_condition *old, const struct sim_graph_condition *new)
{
    old->value->standard = new->value->standard;
    old->value->has_standard = new->value->has_standard;
}

CUresult sim_graph_condition_clone(const struct sim_graph_condition *condition, bool published,
                                   struct sim_work *work)
{
    struct sim_graph_condition *copy = make(condition->value, condition->type, condition->size);
    CUresult result = copy == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && copy->size < condition->size) {
        result = sim_graph_clone(condition->bodies[copy->size], published, &copy->bodies[copy->size]);
        copy->size += result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        *work = (struct sim_work){.kind = SIM_WORK_CONDITION, .condition = copy};
    else if (copy != NULL)
        sim_graph_condition_free(copy);
    return result;
}

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
    struct sim_condition_value *value = calloc(1, sizeof(*value));
    const uint64_t address =
        value == NULL ? 0 : sim_memory_allocate(SIM_MEMORY_DEVICE, sizeof(uint32_t), 0, NULL, NULL);
    if (address == 0) {
        free(value);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&value->object, SIM_GRAPH, NULL, dispose);
    value->address = address;
    value->context = context;
    value->standard = defaultLaunchValue;
    value->has_standard = flags != 0;
    atomic_store(word(value), 0);
    result = keep(graph, value);
    sim_object_release(value);
    if (result == CUDA_SUCCESS)
        *pHandle_out = address;
    return result;
}

/* A handle belongs to a node of its graph or of one inside it. */
static struct sim_condition_value *find(const struct sim_graph *graph, CUgraphConditionalHandle handle)
{
    for (; graph != NULL; graph = graph->parent == NULL ? NULL : graph->parent->graph)
        for (const struct sim_graph_handle *known = graph->handles; known != NULL; known = known->next)
            if (known->value->address == handle)
                return known->value;
    return NULL;
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
            sim_graph_condition_free(condition);
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
