#include "driver/graph/exec.h"

#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/graph/batch.h"
#include "driver/graph/memory.h"
#include "driver/graph/node.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

CUresult sim_graph_exec_find(CUgraphExec handle, struct sim_context **context, struct sim_graph_exec **exec)
{
    const CUresult result = sim_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *exec = sim_object_find(handle, SIM_GRAPH_EXEC);
    return *exec == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Driver 580 does not return CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. */
CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    const CUresult result = sim_graph_exec_find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS && flags != NULL)
        *flags = exec->flags & (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    return flags == NULL ? CUDA_ERROR_INVALID_VALUE : result;
}

#if CUDA_VERSION >= 13010
CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int *graphId)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    const CUresult result = sim_graph_exec_find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS && graphId != NULL)
        *graphId = exec->id;
    return graphId == NULL ? CUDA_ERROR_INVALID_VALUE : result;
}
#endif

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    CUresult result = sim_graph_exec_find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS)
        result = sim_capture_check_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(exec, SIM_GRAPH_EXEC))
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_release(exec);
    return CUDA_SUCCESS;
}

CUresult sim_graph_exec_own_plan(struct sim_graph_exec *exec, struct sim_graph_plan **plan)
{
    struct sim_graph_plan *copy;
    if (atomic_load(&exec->plan->object.references) > 1) {
        const CUresult result = sim_graph_plan_clone(exec->plan, &copy);
        if (result != CUDA_SUCCESS)
            return result;
        sim_object_release(exec->plan);
        exec->plan = copy;
    }
    *plan = exec->plan;
    return CUDA_SUCCESS;
}

/* Wait for the previous launch, on whatever stream it was. Called with the mutex held. */
static CUresult follow(struct sim_graph_exec *exec, struct sim_stream *stream)
{
    if (exec->stream == NULL || exec->stream == stream || sim_stream_is_capturing(stream) ||
        sim_stream_has_completed(exec->stream, exec->number))
        return CUDA_SUCCESS;
    struct sim_work work = {.kind = SIM_WORK_WAIT,
                            .wait = {.stream = sim_object_retain(exec->stream), .number = exec->number}};
    return sim_stream_submit(stream, &work, NULL);
}

static CUresult queue(struct sim_graph_exec *exec, struct sim_stream *stream)
{
    const bool automatic = (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    struct sim_work work = {.kind = SIM_WORK_PLAN};
    uint64_t number = 0;
    pthread_mutex_lock(&exec->mutex);
    const bool has_memory = exec->plan->has_memory && !sim_stream_is_capturing(stream);
    CUresult result = follow(exec, stream);
    if (result == CUDA_SUCCESS && has_memory)
        result = sim_graph_memory_launch(exec->plan, automatic);
    if (result == CUDA_SUCCESS) {
        work.plan = sim_object_retain(exec->plan);
        result = sim_stream_submit(stream, &work, &number);
        if (result != CUDA_SUCCESS && has_memory)
            sim_graph_memory_cancel(exec->plan);
    }
    if (result == CUDA_SUCCESS && number != 0) {
        struct sim_stream *before = exec->stream;
        exec->stream = sim_object_retain(stream);
        exec->number = number;
        sim_object_release(before);
    }
    pthread_mutex_unlock(&exec->mutex);
    return result;
}

static CUresult resolve(CUgraphExec handle, CUstream hStream, bool per_thread, struct sim_graph_exec **exec,
                        struct sim_stream **stream)
{
    struct sim_context *context;
    const CUresult result = sim_graph_exec_find(handle, &context, exec);
    return result == CUDA_SUCCESS ? sim_stream_resolve(context, hStream, per_thread, stream) : result;
}

static CUresult launch(CUgraphExec hGraphExec, CUstream hStream, bool per_thread)
{
    struct sim_graph_exec *exec;
    struct sim_stream *stream;
    const CUresult result = resolve(hGraphExec, hStream, per_thread, &exec, &stream);
    return result == CUDA_SUCCESS ? queue(exec, stream) : result;
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    return launch(hGraphExec, hStream, false);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return launch(hGraphExec, hStream, true);
}

/* No data is uploaded here. Allocations get their memory. */
static CUresult upload(CUgraphExec hGraphExec, CUstream hStream, bool per_thread)
{
    struct sim_graph_exec *exec;
    struct sim_stream *stream;
    CUresult result = resolve(hGraphExec, hStream, per_thread, &exec, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_stream_is_capturing(stream)) {
        sim_capture_invalidate(stream);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_lock(&exec->mutex);
    if (exec->plan->has_memory)
        result = sim_graph_memory_provide(exec->plan);
    pthread_mutex_unlock(&exec->mutex);
    return result;
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    return upload(hGraphExec, hStream, false);
}

CUresult cuGraphUpload_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return upload(hGraphExec, hStream, true);
}

CUresult sim_graph_step_find(struct sim_graph_step *step, CUgraphExec exec, CUgraphNode handle,
                             enum sim_work_kind kind)
{
    const CUresult result = sim_graph_exec_find(exec, &step->context, &step->exec);
    if (result != CUDA_SUCCESS)
        return result;
    step->source = sim_object_find(handle, SIM_GRAPH_NODE);
    if (step->source == NULL || step->source->work.kind != kind)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* The step's node in a plan that may be modified. Called with the mutex held. */
static CUresult own_node(const struct sim_graph_step *step, struct sim_graph_node **node)
{
    struct sim_graph_plan *plan;
    if (sim_graph_plan_find(step->exec->plan, step->source) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = sim_graph_exec_own_plan(step->exec, &plan);
    if (result == CUDA_SUCCESS)
        *node = sim_graph_plan_find(plan, step->source);
    return result;
}

CUresult sim_graph_step_set_copy(const struct sim_graph_step *step, struct sim_work *work,
                                 const CUDA_MEMCPY3D *parameters)
{
    struct sim_graph_node *node;
    pthread_mutex_lock(&step->exec->mutex);
    CUresult result = own_node(step, &node);
    if (result == CUDA_SUCCESS &&
        sim_graph_may_become(node, work, parameters) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        if (work->kind == SIM_WORK_LAUNCH)
            work->launch.cooperative = node->work.launch.cooperative;
        result = sim_graph_replace(node, work);
        if (result == CUDA_SUCCESS && parameters != NULL)
            result = sim_graph_keep_copy(node, parameters);
    } else {
        sim_work_clear(work);
    }
    pthread_mutex_unlock(&step->exec->mutex);
    return result;
}

CUresult sim_graph_step_set(const struct sim_graph_step *step, struct sim_work *work)
{
    return sim_graph_step_set_copy(step, work, NULL);
}

/* Only some node types can be disabled (cuda.h at cuGraphNodeSetEnabled). */
static CUresult find_switch(struct sim_graph_step *step, CUgraphExec exec, CUgraphNode handle)
{
    const struct sim_graph_node *node = sim_object_find(handle, SIM_GRAPH_NODE);
    const enum sim_work_kind kind = node == NULL ? SIM_WORK_NONE : node->work.kind;
    const CUresult result = sim_graph_step_find(step, exec, handle, kind);
    if (result != CUDA_SUCCESS)
        return result;
    return kind == SIM_WORK_LAUNCH || kind == SIM_WORK_COPY || kind == SIM_WORK_SET
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    struct sim_graph_step step;
    struct sim_graph_node *node;
    CUresult result = find_switch(&step, hGraphExec, hNode);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&step.exec->mutex);
    result = own_node(&step, &node);
    if (result == CUDA_SUCCESS)
        node->disabled = isEnabled == 0;
    pthread_mutex_unlock(&step.exec->mutex);
    return result;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    struct sim_graph_step step;
    const CUresult result = find_switch(&step, hGraphExec, hNode);
    if (result != CUDA_SUCCESS || isEnabled == NULL)
        return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
    pthread_mutex_lock(&step.exec->mutex);
    const struct sim_graph_node *node = sim_graph_plan_find(step.exec->plan, step.source);
    if (node != NULL)
        *isEnabled = !node->disabled;
    pthread_mutex_unlock(&step.exec->mutex);
    return node == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
