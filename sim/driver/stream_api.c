/* The calls that make, query and synchronise streams, and those that queue host work on them. */
#include "context.h"
#include "device.h"
#include "range.h"
#include "stream.h"

static CUresult create(CUstream *phStream, unsigned flags, int priority)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (phStream == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (priority > SIM_PRIORITY_LEAST)
        priority = SIM_PRIORITY_LEAST;
    if (priority < SIM_PRIORITY_GREATEST)
        priority = SIM_PRIORITY_GREATEST;
    struct sim_stream *stream = sim_stream_make(context, flags, priority);
    if (stream == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_object_publish(stream)) {
        sim_stream_close(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(phStream, Flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    return create(phStream, flags, priority);
}

static CUresult destroy(CUstream hStream)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(hStream, SIM_STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_stream_close((struct sim_stream *)hStream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream hStream)
{
    return destroy(hStream);
}

CUresult cuStreamDestroy_v2(CUstream hStream)
{
    return destroy(hStream);
}

static CUresult resolve(CUstream hStream, bool per_thread, const void *out, struct sim_stream **stream)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_stream_resolve(context, hStream, per_thread, stream);
}

static CUresult synchronize(CUstream hStream, bool per_thread)
{
    struct sim_stream *stream;
    /* An empty operation, so that what the default-stream rules put before it is waited for too. */
    struct sim_work work = {.kind = SIM_WORK_NONE};
    const CUresult result = resolve(hStream, per_thread, &work, &stream);
    return result == CUDA_SUCCESS ? sim_stream_submit_and_wait(stream, &work) : result;
}

CUresult cuStreamSynchronize(CUstream hStream)
{
    return synchronize(hStream, false);
}

CUresult cuStreamSynchronize_ptsz(CUstream hStream)
{
    return synchronize(hStream, true);
}

static CUresult query(CUstream hStream, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, &stream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_stream_is_capturing(stream))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!sim_stream_has_completed(stream, sim_stream_newest(stream)))
        return CUDA_ERROR_NOT_READY;
    return sim_context_error(stream->object.context);
}

CUresult cuStreamQuery(CUstream hStream)
{
    return query(hStream, false);
}

CUresult cuStreamQuery_ptsz(CUstream hStream)
{
    return query(hStream, true);
}

static CUresult get_priority(CUstream hStream, int *priority, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, priority, &stream);
    if (result == CUDA_SUCCESS)
        *priority = stream->priority;
    return result;
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority)
{
    return get_priority(hStream, priority, false);
}

CUresult cuStreamGetPriority_ptsz(CUstream hStream, int *priority)
{
    return get_priority(hStream, priority, true);
}

static CUresult get_flags(CUstream hStream, unsigned *flags, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, flags, &stream);
    if (result == CUDA_SUCCESS)
        *flags = stream->flags;
    return result;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    return get_flags(hStream, flags, false);
}

CUresult cuStreamGetFlags_ptsz(CUstream hStream, unsigned int *flags)
{
    return get_flags(hStream, flags, true);
}

static CUresult get_id(CUstream hStream, unsigned long long *id, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, id, &stream);
    if (result == CUDA_SUCCESS)
        *id = stream->id;
    return result;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    return get_id(hStream, streamId, false);
}

CUresult cuStreamGetId_ptsz(CUstream hStream, unsigned long long *streamId)
{
    return get_id(hStream, streamId, true);
}

static CUresult get_context(CUstream hStream, CUcontext *context, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, context, &stream);
    if (result == CUDA_SUCCESS)
        *context = (CUcontext)stream->object.context;
    return result;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    return get_context(hStream, pctx, false);
}

CUresult cuStreamGetCtx_ptsz(CUstream hStream, CUcontext *pctx)
{
    return get_context(hStream, pctx, true);
}

#if CUDA_VERSION >= 12050
CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pGreenCtx != NULL)
        *pGreenCtx = NULL;
    return get_context(hStream, pCtx, false);
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pGreenCtx != NULL)
        *pGreenCtx = NULL;
    return get_context(hStream, pCtx, true);
}
#endif

#if CUDA_VERSION >= 12080
CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, false, device, &stream);
    if (result == CUDA_SUCCESS)
        *device = SIM_DEVICE;
    return result;
}

CUresult cuStreamGetDevice_ptsz(CUstream hStream, CUdevice *device)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, true, device, &stream);
    if (result == CUDA_SUCCESS)
        *device = SIM_DEVICE;
    return result;
}
#endif

static CUresult submit(CUstream hStream, struct sim_work *work, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, work, &stream);
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

#if CUDA_VERSION >= 13020 /* the first header to declare it, though it dates it 13.1 */
/* How the host thread waits is of no consequence here, where each stream has a thread of its own. */
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

static CUresult value(enum sim_work_kind kind, CUstream stream, CUdeviceptr address, uint64_t number,
                      unsigned bytes, unsigned flags, bool per_thread)
{
    struct sim_work work = {.kind = kind, .value = {address, number, bytes, flags}};
    if (address % bytes != 0 || !sim_range_accessible(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return submit(stream, &work, per_thread);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WRITE, stream, addr, number, 4, flags, false);
}

CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr addr, cuuint32_t number,
                                      unsigned int flags)
{
    return value(SIM_WORK_VALUE_WRITE, stream, addr, number, 4, flags, true);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WRITE, stream, addr, number, 8, flags, false);
}

CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr addr, cuuint64_t number,
                                      unsigned int flags)
{
    return value(SIM_WORK_VALUE_WRITE, stream, addr, number, 8, flags, true);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WAIT, stream, addr, number, 4, flags, false);
}

CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr addr, cuuint32_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WAIT, stream, addr, number, 4, flags, true);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WAIT, stream, addr, number, 8, flags, false);
}

CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr addr, cuuint64_t number, unsigned int flags)
{
    return value(SIM_WORK_VALUE_WAIT, stream, addr, number, 8, flags, true);
}
