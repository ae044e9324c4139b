/* Instantiation of graphs. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/graph/condition.h"
#include "driver/graph/exec.h"
#include "driver/graph/handle.h"
#include "driver/graph/node.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

/* CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED; headers before 12.8 lack it. */
#define HANDLE_UNUSED ((CUgraphInstantiateResult)5)

static atomic_uint next_id = 1;

static void dispose(struct sim_object *object)
{
    struct sim_graph_exec *exec = (struct sim_graph_exec *)object;
    atomic_fetch_sub(&exec->source->instances, 1);
    sim_object_release(exec->source);
    sim_object_release(exec->plan);
    sim_object_release(exec->stream);
    pthread_mutex_destroy(&exec->mutex);
    free(exec);
}

struct outcome {
    CUgraphInstantiateResult result;
    const struct sim_graph_node *node;
};

static bool is_one_of(const struct sim_work *work, unsigned long kinds)
{
    return (kinds >> work->kind & 1u) != 0;
}

/* A node that a launch from the device does not support. NULL: all are supported. */
static const struct sim_graph_node *find_unsupported(const struct sim_graph *graph, unsigned long kinds)
{
    const unsigned long body = SIM_GRAPH_KIND(SIM_WORK_NONE) | SIM_GRAPH_KIND(SIM_WORK_LAUNCH) |
                               SIM_GRAPH_KIND(SIM_WORK_COPY) | SIM_GRAPH_KIND(SIM_WORK_SET) |
                               SIM_GRAPH_KIND(SIM_WORK_CHILD) | SIM_GRAPH_CONDITIONAL;
    const struct sim_graph_node *found = NULL;
    for (size_t i = 0; i < graph->node_count && found == NULL; i++) {
        const struct sim_work *work = &graph->nodes[i]->work;
        if (!is_one_of(work, kinds))
            found = graph->nodes[i];
        for (size_t g = 0; g < sim_graph_inner_count(work) && found == NULL; g++)
            found = find_unsupported(sim_graph_inner(work, g),
                                     work->kind == SIM_WORK_CONDITION ? kinds & body : kinds);
    }
    return found;
}

/* Restrictions on graphs for launch from the device (cuda.h at cuGraphInstantiate). */
static CUresult check_device_launch(const struct sim_graph *graph, struct outcome *outcome)
{
    const unsigned long work =
        SIM_GRAPH_KIND(SIM_WORK_LAUNCH) | SIM_GRAPH_KIND(SIM_WORK_COPY) | SIM_GRAPH_KIND(SIM_WORK_SET);
    outcome->node = find_unsupported(graph, work | SIM_GRAPH_KIND(SIM_WORK_CHILD));
    if (outcome->node != NULL)
        outcome->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    return outcome->node != NULL || !sim_graph_has(graph, work) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult check(const struct sim_graph *graph, unsigned long long flags, struct outcome *outcome)
{
    const unsigned long long known =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const unsigned long long exclusive =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if ((flags & ~known) != 0 || (flags & exclusive) == exclusive)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->parent != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!sim_graph_handles_are_used(graph->handles)) {
        outcome->result = HANDLE_UNUSED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    outcome->node = find_unsupported(graph, ~0ul);
    if (outcome->node != NULL) {
        outcome->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 ? check_device_launch(graph, outcome)
                                                                    : CUDA_SUCCESS;
}

static CUresult make(CUgraphExec *made, struct sim_graph *graph, struct sim_graph_plan *plan,
                     unsigned long long flags)
{
    struct sim_graph_exec *exec = calloc(1, sizeof(*exec));
    if (exec == NULL) {
        sim_object_release(plan);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&exec->object, SIM_GRAPH_EXEC, NULL, dispose);
    pthread_mutex_init(&exec->mutex, NULL);
    exec->id = atomic_fetch_add(&next_id, 1);
    exec->flags = flags;
    exec->plan = plan;
    exec->source = sim_object_retain(graph);
    /* Memory nodes and conditional values allow one executable graph at a time. */
    const bool alone = sim_graph_has(graph, SIM_GRAPH_MEMORY | SIM_GRAPH_CONDITIONAL);
    const bool taken = atomic_fetch_add(&graph->instances, 1) != 0 && alone;
    if (taken || !sim_object_publish(exec)) {
        sim_object_release(exec);
        return taken ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *made, CUgraph hGraph, unsigned long long flags,
                            struct outcome *outcome)
{
    struct sim_context *context;
    struct sim_graph *graph;
    struct sim_graph_plan *plan;
    *outcome = (struct outcome){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    CUresult result = sim_graph_find(hGraph, &context, &graph);
    if (result == CUDA_SUCCESS)
        result = sim_capture_check_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    result = made == NULL ? CUDA_ERROR_INVALID_VALUE : check(graph, flags, outcome);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_graph_plan_make(graph, &plan, &outcome->node);
    if (outcome->node != NULL)
        outcome->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    if (result == CUDA_SUCCESS)
        result = make(made, graph, plan, flags);
    if (result == CUDA_SUCCESS)
        outcome->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return result;
}

/* Uploading needs a stream, which only the parameters of cuGraphInstantiateWithParams have. */
CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    struct outcome outcome;
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return instantiate(phGraphExec, hGraph, flags, &outcome);
}

static CUresult instantiate_with_log(CUgraphExec *made, CUgraph hGraph, CUgraphNode *error_node, char *log,
                                     size_t log_bytes)
{
    struct outcome outcome;
    if (log != NULL && log_bytes != 0)
        log[0] = '\0';
    const CUresult result = instantiate(made, hGraph, 0, &outcome);
    if (error_node != NULL)
        *error_node = (CUgraphNode)outcome.node;
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                            char *logBuffer, size_t bufferSize)
{
    return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                               char *logBuffer, size_t bufferSize)
{
    return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

static CUresult instantiate_with_params(CUgraphExec *made, CUgraph hGraph,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *params, bool per_thread)
{
    struct outcome outcome;
    struct sim_context *context;
    struct sim_stream *stream;
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_enter_unsafe(&context);
    if (result == CUDA_SUCCESS && (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0)
        result = sim_stream_resolve(context, params->hUploadStream, per_thread, &stream);
    if (result == CUDA_SUCCESS)
        result = instantiate(made, hGraph, params->flags, &outcome);
    else
        outcome = (struct outcome){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    params->hErrNode_out = (CUgraphNode)outcome.node;
    params->result_out = outcome.result;
    if (result != CUDA_SUCCESS || (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0)
        return result;
    return per_thread ? cuGraphUpload_ptsz(*made, params->hUploadStream)
                      : cuGraphUpload(*made, params->hUploadStream);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return instantiate_with_params(phGraphExec, hGraph, instantiateParams, false);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return instantiate_with_params(phGraphExec, hGraph, instantiateParams, true);
}
