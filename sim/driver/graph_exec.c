/* Executable graphs. */
#include "capture.h"
#include "context.h"
#include "graph.h"
#include "launch.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

struct sim_graph_exec {
    struct sim_object object;
    unsigned long long flags;
    pthread_mutex_t mutex;
    struct sim_graph_plan *plan; /* replaced as a whole by an update: launches keep the one they took */
};

static void dispose(struct sim_object *object)
{
    struct sim_graph_exec *exec = (struct sim_graph_exec *)object;
    sim_object_release(exec->plan);
    pthread_mutex_destroy(&exec->mutex);
    free(exec);
}

static CUresult instantiate(CUgraphExec *made, CUgraph hGraph, unsigned long long flags)
{
    struct sim_context *context;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_graph *graph = sim_object_find(hGraph, SIM_GRAPH);
    if (made == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_graph_exec *exec = calloc(1, sizeof(*exec));
    if (exec == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&exec->object, SIM_GRAPH_EXEC, NULL, dispose);
    pthread_mutex_init(&exec->mutex, NULL);
    exec->flags = flags;
    result = sim_graph_plan_make(graph, &exec->plan);
    if (result == CUDA_SUCCESS && !sim_object_publish(exec))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        sim_object_release(exec);
    else
        *made = (CUgraphExec)exec;
    return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

static CUresult instantiate_with_log(CUgraphExec *made, CUgraph hGraph, CUgraphNode *error_node, char *log,
                                     size_t log_bytes)
{
    if (error_node != NULL)
        *error_node = NULL;
    if (log != NULL && log_bytes != 0)
        log[0] = '\0';
    return instantiate(made, hGraph, 0);
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
                                        CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = instantiate(made, hGraph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return instantiate_with_params(phGraphExec, hGraph, instantiateParams);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return instantiate_with_params(phGraphExec, hGraph, instantiateParams);
}

static CUresult find(CUgraphExec handle, struct sim_context **context, struct sim_graph_exec **exec)
{
    const CUresult result = sim_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *exec = sim_object_find(handle, SIM_GRAPH_EXEC);
    return *exec == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    const CUresult result = find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS && flags != NULL)
        *flags = exec->flags;
    return flags == NULL ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    CUresult result = find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS)
        result = sim_capture_permits_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(exec, SIM_GRAPH_EXEC))
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_release(exec);
    return CUDA_SUCCESS;
}

static struct sim_graph_plan *take_plan(struct sim_graph_exec *exec)
{
    pthread_mutex_lock(&exec->mutex);
    struct sim_graph_plan *plan = sim_object_retain(exec->plan);
    pthread_mutex_unlock(&exec->mutex);
    return plan;
}

static void replace_plan(struct sim_graph_exec *exec, struct sim_graph_plan *plan)
{
    pthread_mutex_lock(&exec->mutex);
    struct sim_graph_plan *before = exec->plan;
    exec->plan = plan;
    pthread_mutex_unlock(&exec->mutex);
    sim_object_release(before);
}

static CUresult launch(CUgraphExec hGraphExec, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    struct sim_stream *stream;
    CUresult result = find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_work work = {.kind = SIM_WORK_PLAN, .plan = take_plan(exec)};
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    return launch(hGraphExec, hStream, false);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return launch(hGraphExec, hStream, true);
}

/* There is nothing to upload; the handles are checked. */
static CUresult upload(CUgraphExec hGraphExec, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    struct sim_stream *stream;
    CUresult result = find(hGraphExec, &context, &exec);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS || !sim_stream_is_capturing(stream))
        return result;
    sim_capture_spoil(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    return upload(hGraphExec, hStream, false);
}

CUresult cuGraphUpload_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return upload(hGraphExec, hStream, true);
}

static bool is_same_shape(const struct sim_graph_plan *a, const struct sim_graph_plan *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->steps[i].work.kind == b->steps[i].work.kind;
    return same;
}

static CUresult update(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResult *outcome)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    struct sim_graph_plan *plan;
    CUresult result = find(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_graph *graph = sim_object_find(hGraph, SIM_GRAPH);
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_graph_plan_make(graph, &plan);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_graph_plan *before = take_plan(exec);
    const bool same = is_same_shape(before, plan);
    if (same) {
        /* The nodes that the executable graph knows stay those of its first graph. */
        for (size_t i = 0; i < plan->count; i++)
            plan->steps[i].source = before->steps[i].source;
        replace_plan(exec, plan);
    } else {
        sim_object_release(plan);
    }
    sim_object_release(before);
    *outcome = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    if (updateResult_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (hErrorNode_out != NULL)
        *hErrorNode_out = NULL;
    return update(hGraphExec, hGraph, updateResult_out);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    if (resultInfo == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(resultInfo, 0, sizeof *resultInfo);
    return update(hGraphExec, hGraph, &resultInfo->result);
}

static CUresult set_kernel(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *p,
                           CUkernel kern)
{
    struct sim_context *context;
    struct sim_graph_exec *exec;
    struct sim_work work;
    CUresult result = find(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_launch_request request = {.function = p->func != NULL ? p->func : (CUfunction)kern,
                                               .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                               .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                               .shared_bytes = p->sharedMemBytes,
                                               .parameters = p->kernelParams,
                                               .extra = p->extra};
    struct sim_graph_plan *before = take_plan(exec);
    struct sim_graph_plan *plan;
    result = sim_graph_plan_clone(before, &plan);
    sim_object_release(before);
    if (result != CUDA_SUCCESS)
        return result;
    size_t at = 0;
    while (at < plan->count && ((const void *)plan->steps[at].source != (const void *)hNode ||
                                plan->steps[at].work.kind != SIM_WORK_LAUNCH))
        at++;
    result = at == plan->count ? CUDA_ERROR_INVALID_VALUE : sim_launch_prepare(context, &request, &work);
    if (result != CUDA_SUCCESS) {
        sim_object_release(plan);
        return result;
    }
    sim_work_clear(&plan->steps[at].work);
    plan->steps[at].work = work;
    replace_plan(exec, plan);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    return nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE : set_kernel(hGraphExec, hNode, nodeParams, NULL);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v1 first;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&first, nodeParams, sizeof first);
    return set_kernel(hGraphExec, hNode, &first, nodeParams->kern);
}
