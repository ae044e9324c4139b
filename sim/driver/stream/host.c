/* Host functions and callbacks in streams. */
#include "driver/context/context.h"
#include "driver/stream/stream.h"

static void run_host(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    (void)context, (void)stream, (void)number;
    work->host.function(work->host.data);
}

const struct sim_work_class sim_host_work = {.run = run_host};

/* A callback receives the context's error, so it runs after a fault too. */
static void run_callback(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                         struct sim_work *work)
{
    (void)stream, (void)number;
    work->callback.function(work->callback.stream, sim_context_error(context), work->callback.data);
}

const struct sim_work_class sim_callback_work = {.runs_after_fault = true, .run = run_callback};

static CUresult submit(CUstream hStream, struct sim_work *work, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    return result == CUDA_SUCCESS ? sim_stream_submit(stream, work, NULL) : result;
}

static CUresult host_function(CUstream hStream, CUhostFn fn, void *userData, bool per_thread)
{
    struct sim_work work = {.kind = SIM_WORK_HOST, .host = {fn, userData}};
    return fn == NULL ? CUDA_ERROR_INVALID_VALUE : submit(hStream, &work, per_thread);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return host_function(hStream, fn, userData, false);
}

CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return host_function(hStream, fn, userData, true);
}

#if CUDA_VERSION >= 13020 /* the first header that declares it, although it names 13.1 */
/* The mode of waiting has no effect: each stream has a thread of its own here. */
static CUresult host_function_with_mode(CUstream hStream, CUhostFn fn, void *userData, unsigned mode,
                                        bool per_thread)
{
    if (mode != CU_HOST_TASK_BLOCKING && mode != CU_HOST_TASK_SPINWAIT)
        return CUDA_ERROR_INVALID_VALUE;
    return host_function(hStream, fn, userData, per_thread);
}

CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
    return host_function_with_mode(hStream, fn, userData, syncMode, false);
}

CUresult cuLaunchHostFunc_v2_ptsz(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
    return host_function_with_mode(hStream, fn, userData, syncMode, true);
}
#endif

static CUresult add_callback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned flags,
                             bool per_thread)
{
    struct sim_work work = {.kind = SIM_WORK_CALLBACK, .callback = {callback, hStream, userData}};
    return callback == NULL || flags != 0 ? CUDA_ERROR_INVALID_VALUE : submit(hStream, &work, per_thread);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    return add_callback(hStream, callback, userData, flags, false);
}

CUresult cuStreamAddCallback_ptsz(CUstream hStream, CUstreamCallback callback, void *userData,
                                  unsigned int flags)
{
    return add_callback(hStream, callback, userData, flags, true);
}
