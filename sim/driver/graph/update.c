/* Updates of executable graphs: match nodes, check the changes, apply them. */
#include "driver/code/module.h"
#include "driver/context/context.h"
#include "driver/graph/attribute.h"
#include "driver/graph/batch.h"
#include "driver/graph/condition.h"
#include "driver/graph/exec.h"
#include "driver/graph/node.h"
#include "driver/graph/user_object.h"

#include <stdlib.h>
#include <string.h>

static bool is_row(size_t height, size_t depth)
{
    return height == 1 && depth == 1;
}

/* Compares types as passed: CU_MEMORYTYPE_UNIFIED differs from the type it resolves to. */
static bool may_copy_become(const struct sim_graph_node *node, const struct sim_copy *after,
                            const CUDA_MEMCPY3D *parameters)
{
    const struct sim_copy *before = &node->work.copy;
    const bool as_passed = node->copy != NULL && parameters != NULL;
    if ((as_passed ? node->copy->srcMemoryType : before->source_type) !=
            (as_passed ? parameters->srcMemoryType : after->source_type) ||
        (as_passed ? node->copy->dstMemoryType : before->destination_type) !=
            (as_passed ? parameters->dstMemoryType : after->destination_type))
        return false;
    if (is_row(before->height, before->depth) && is_row(after->height, after->depth))
        return true;
    return before->width == after->width && before->height == after->height &&
           before->depth == after->depth && before->source_pitch == after->source_pitch &&
           before->source_slice == after->source_slice &&
           before->destination_pitch == after->destination_pitch &&
           before->destination_slice == after->destination_slice;
}

static bool may_set_become(const struct sim_set *before, const struct sim_set *after)
{
    if (before->height == 1 && after->height == 1)
        return true;
    return before->width == after->width && before->height == after->height &&
           before->element_bytes == after->element_bytes && before->pitch == after->pitch;
}

static bool may_condition_become(const struct sim_graph_condition *before,
                                 const struct sim_graph_condition *after)
{
    return before->type == after->type && before->size == after->size;
}

CUgraphExecUpdateResult sim_graph_may_become(const struct sim_graph_node *node, const struct sim_work *after,
                                             const CUDA_MEMCPY3D *parameters)
{
    const struct sim_work *before = &node->work;
    bool may = true;
    if (before->kind != after->kind)
        return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    switch (before->kind) {
    case SIM_WORK_LAUNCH:
        return before->launch.function->module->object.context ==
                       after->launch.function->module->object.context
                   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                   : CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    case SIM_WORK_COPY:
        may = may_copy_become(node, &after->copy, parameters);
        break;
    case SIM_WORK_SET:
        may = may_set_become(&before->set, &after->set);
        break;
    case SIM_WORK_BATCH:
        may = sim_graph_batch_may_become(before->batch, after->batch);
        break;
    case SIM_WORK_CONDITION:
        may = may_condition_become(before->condition, after->condition);
        break;
    case SIM_WORK_GRAPH_ALLOCATE:
    case SIM_WORK_GRAPH_FREE:
        may = before->memory == after->memory;
        break;
    default:
        break;
    }
    return may ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUresult fail(struct sim_graph_update *update, CUgraphExecUpdateResult result,
                     const struct sim_graph_node *node, const struct sim_graph_node *from)
{
    *update = (struct sim_graph_update){result, node, from};
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* Matching of the nodes of two graphs of equal size. */
struct pairing {
    const struct sim_graph *old;
    const struct sim_graph *new;
    struct sim_graph_node **old_of;      /* by position of the new node; NULL: not matched yet */
    struct sim_graph_node **new_of;      /* by position of the old node */
    const struct sim_graph_node **queue; /* new nodes in order of matching */
    size_t count;
};

static void pair(struct pairing *pairing, struct sim_graph_node *old, struct sim_graph_node *new)
{
    pairing->old_of[new->position] = old;
    pairing->new_of[old->position] = new;
    pairing->queue[pairing->count++] = new;
}

/* Nodes without dependents, in order of creation. */
static size_t find_exits(const struct sim_graph *graph, struct sim_graph_node **exits)
{
    size_t count = 0;
    bool *followed = calloc(graph->node_count + 1, sizeof(*followed));
    if (followed == NULL)
        return SIZE_MAX;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t d = 0; d < graph->nodes[i]->dependency_count; d++)
            followed[graph->nodes[i]->dependencies[d]->position] = true;
    for (size_t i = 0; i < graph->node_count; i++)
        if (!followed[i])
            exits[count++] = graph->nodes[i];
    free(followed);
    return count;
}

static CUresult pair_exits(struct pairing *pairing, struct sim_graph_node **scratch,
                           struct sim_graph_update *update)
{
    struct sim_graph_node **old = scratch;
    struct sim_graph_node **new = scratch + pairing->old->node_count;
    size_t old_count = find_exits(pairing->old, old);
    size_t new_count = find_exits(pairing->new, new);
    if (old_count == SIZE_MAX || new_count == SIZE_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    while (old_count > 0 && new_count > 0)
        pair(pairing, old[--old_count], new[--new_count]);
    return new_count == 0
               ? CUDA_SUCCESS
               : fail(update, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new[new_count - 1], NULL);
}

/* Match dependencies in the order of edges, starting from the exits (cuda.h at cuGraphExecUpdate). */
static CUresult pair_dependencies(struct pairing *pairing, struct sim_graph_update *update)
{
    for (size_t i = 0; i < pairing->count; i++) {
        const struct sim_graph_node *new = pairing->queue[i];
        const struct sim_graph_node *old = pairing->old_of[new->position];
        if (old->dependency_count != new->dependency_count)
            return fail(update, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new, NULL);
        for (size_t d = 0; d < new->dependency_count; d++) {
            struct sim_graph_node *new_on = new->dependencies[d];
            struct sim_graph_node *old_on = old->dependencies[d];
            if (pairing->old_of[new_on->position] == NULL && pairing->new_of[old_on->position] == NULL)
                pair(pairing, old_on, new_on);
            else if (pairing->old_of[new_on->position] != old_on)
                return fail(update, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new, new_on);
        }
    }
    return pairing->count == pairing->new->node_count
               ? CUDA_SUCCESS
               : fail(update, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
}

typedef CUresult for_pair(struct sim_graph_node *old, const struct sim_graph_node *new,
                          unsigned long long flags, struct sim_graph_update *update);

/* Call `each` for matching nodes of two graphs and of their nested graphs. */
static CUresult for_pairs(const struct sim_graph *old, const struct sim_graph *new, unsigned long long flags,
                          for_pair *each, struct sim_graph_update *update)
{
    if (old->node_count != new->node_count)
        return fail(update, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    const size_t count = old->node_count;
    struct sim_graph_node **memory = calloc(count * 5 + 1, sizeof(struct sim_graph_node *));
    if (memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct pairing pairing = {
        old, new, memory, memory + count, (const struct sim_graph_node **)(memory + 2 * count), 0};
    CUresult result = pair_exits(&pairing, memory + 3 * count, update);
    if (result == CUDA_SUCCESS)
        result = pair_dependencies(&pairing, update);
    for (size_t i = 0; i < pairing.count && result == CUDA_SUCCESS; i++) {
        const struct sim_graph_node *node = pairing.queue[i];
        struct sim_graph_node *twin = pairing.old_of[node->position];
        result = each(twin, node, flags, update);
        for (size_t g = 0; g < sim_graph_inner_count(&node->work) && result == CUDA_SUCCESS; g++)
            result = for_pairs(sim_graph_inner(&twin->work, g), sim_graph_inner(&node->work, g), flags, each,
                               update);
    }
    free(memory);
    return result;
}

static int priority_of(const struct sim_graph_node *node)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    (void)sim_graph_attribute_get(node, (CUlaunchAttributeID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    return value.priority;
}

static CUresult check_pair(struct sim_graph_node *old, const struct sim_graph_node *new,
                           unsigned long long flags, struct sim_graph_update *update)
{
    CUgraphExecUpdateResult result = sim_graph_may_become(old, &new->work, new->copy);
    if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && new->work.kind == SIM_WORK_LAUNCH &&
        (old->work.launch.cooperative != new->work.launch.cooperative ||
         ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0 &&
          priority_of(old) != priority_of(new))))
        result = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    return result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : fail(update, result, new, NULL);
}

static CUresult apply_pair(struct sim_graph_node *old, const struct sim_graph_node *new,
                           unsigned long long flags, struct sim_graph_update *update)
{
    struct sim_work work;
    (void)flags;
    (void)update;
    if (new->work.kind == SIM_WORK_CHILD)
        return CUDA_SUCCESS;
    if (new->work.kind == SIM_WORK_CONDITION) {
        sim_graph_condition_update(old->work.condition, new->work.condition);
        return CUDA_SUCCESS;
    }
    if (sim_work_clone(&work, &new->work, false) != CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = sim_graph_replace(old, &work);
    if (result == CUDA_SUCCESS)
        result = sim_graph_keep_attributes(old, new->attributes);
    if (result == CUDA_SUCCESS && new->copy != NULL)
        result = sim_graph_keep_copy(old, new->copy);
    return result;
}

/* Changes a copy of the plan, which replaces the plan on success. Called with the mutex held. */
static CUresult change(struct sim_graph_exec *exec, const struct sim_graph_node *child,
                       const struct sim_graph *graph, struct sim_graph_update *update)
{
    struct sim_graph_plan *copy;
    const struct sim_graph_node *step = child == NULL ? NULL : sim_graph_plan_find(exec->plan, child);
    if (child != NULL && step == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = for_pairs(step == NULL ? exec->plan->graph : step->work.child, graph, exec->flags,
                                check_pair, update);
    if (result == CUDA_SUCCESS)
        result = sim_graph_plan_clone(exec->plan, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_graph *target = child == NULL ? copy->graph : sim_graph_plan_find(copy, child)->work.child;
    result = for_pairs(target, graph, exec->flags, apply_pair, update);
    if (result == CUDA_SUCCESS && child == NULL) {
        sim_user_release_all(&target->users);
        result = sim_user_copy_all(&target->users, graph->users);
    }
    if (result == CUDA_SUCCESS) {
        struct sim_graph_plan *before = exec->plan;
        exec->plan = copy;
        copy = before;
    }
    sim_object_release(copy);
    return result;
}

CUresult sim_graph_exec_update(struct sim_graph_exec *exec, const struct sim_graph_node *child,
                               const struct sim_graph *graph, struct sim_graph_update *update)
{
    struct sim_graph_update ignored;
    if (update == NULL)
        update = &ignored;
    *update = (struct sim_graph_update){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    pthread_mutex_lock(&exec->mutex);
    const CUresult result = change(exec, child, graph, update);
    pthread_mutex_unlock(&exec->mutex);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        update->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    return result;
}

/* For an invalid handle the update result stays CU_GRAPH_EXEC_UPDATE_SUCCESS beside the error (driver 580).
 */
static CUresult update_whole(CUgraphExec hGraphExec, CUgraph hGraph, struct sim_graph_update *update)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    struct sim_graph *graph;
    *update = (struct sim_graph_update){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    CUresult result = sim_graph_exec_find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS)
        result = sim_graph_find(hGraph, &context, &graph);
    return result == CUDA_SUCCESS ? sim_graph_exec_update(exec, NULL, graph, update) : result;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    struct sim_graph_update update;
    const CUresult result = update_whole(hGraphExec, hGraph, &update);
    if (hErrorNode_out != NULL)
        *hErrorNode_out = (CUgraphNode)update.node;
    if (updateResult_out != NULL)
        *updateResult_out = update.result;
    return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    struct sim_graph_update update;
    const CUresult result = update_whole(hGraphExec, hGraph, &update);
    if (resultInfo != NULL)
        *resultInfo = (CUgraphExecUpdateResultInfo){.result = update.result,
                                                    .errorNode = (CUgraphNode)update.node,
                                                    .errorFromNode = (CUgraphNode)update.from};
    return result;
}
