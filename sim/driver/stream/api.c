/* Creating, querying and synchronizing streams. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/stream/stream.h"

int sim_stream_clamp_priority(int priority)
{
    if (priority > SIM_PRIORITY_LEAST)
        return SIM_PRIORITY_LEAST;
    return priority < SIM_PRIORITY_GREATEST ? SIM_PRIORITY_GREATEST : priority;
}

static CUresult create(CUstream *phStream, unsigned flags, int priority)
{
    struct sim_context *context;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (phStream == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_stream *stream = sim_stream_make(context, flags, sim_stream_clamp_priority(priority));
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
    struct sim_stream *stream;
    const CUresult result = sim_stream_enter(hStream, false, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(hStream, SIM_STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_stream_close(stream);
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
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : sim_stream_enter(hStream, per_thread, stream);
}

/* Work on a capturing stream is not queued, so it cannot be queried. Waiting for another stream is a call
 * that no capture can see. */
static CUresult enter_to_wait(CUstream hStream, bool per_thread, struct sim_stream **stream)
{
    const CUresult result = sim_stream_enter(hStream, per_thread, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_stream_is_capturing(*stream))
        return sim_capture_check_unsafe();
    sim_capture_invalidate(*stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult synchronize(CUstream hStream, bool per_thread)
{
    struct sim_stream *stream;
    /* An empty operation, which also waits for the operations before it by the default-stream rules. */
    struct sim_work work = {.kind = SIM_WORK_NONE};
    const CUresult result = enter_to_wait(hStream, per_thread, &stream);
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
    const CUresult result = enter_to_wait(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
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
