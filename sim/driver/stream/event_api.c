/* cuEvent*, and streams that wait for events. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/core/stub.h"
#include "driver/stream/event.h"
#include "driver/stream/stream.h"

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    const bool shared_with_time =
        (Flags & CU_EVENT_INTERPROCESS) != 0 && (Flags & CU_EVENT_DISABLE_TIMING) == 0;
    if (phEvent == NULL || (Flags & ~known) != 0 || shared_with_time)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_event *event = sim_event_make(context, Flags);
    if (event == NULL || !sim_object_publish(event)) {
        sim_object_release(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

static CUresult destroy(CUevent hEvent)
{
    struct sim_event *event;
    const CUresult result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(hEvent, SIM_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_release(event);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent hEvent)
{
    return destroy(hEvent);
}

CUresult cuEventDestroy_v2(CUevent hEvent)
{
    return destroy(hEvent);
}

static CUresult record(CUevent hEvent, CUstream hStream, unsigned flags, bool per_thread)
{
    struct sim_stream *stream;
    struct sim_event *event;
    CUresult result = sim_event_enter(hEvent, &event);
    if (result == CUDA_SUCCESS)
        result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_context_root(event->object.context) != sim_context_root(stream->object.context))
        return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool captured = false;
    result = sim_capture_record(stream, event, (flags & CU_EVENT_RECORD_EXTERNAL) != 0, &captured);
    if (captured || result != CUDA_SUCCESS)
        return result;
    struct sim_work work = {.kind = SIM_WORK_RECORD, .event = sim_object_retain(event)};
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return record(hEvent, hStream, 0, false);
}

CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
    return record(hEvent, hStream, 0, true);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return record(hEvent, hStream, flags, false);
}

CUresult cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return record(hEvent, hStream, flags, true);
}

/* A captured event happens only in a graph: waiting for it on the host invalidates the capture. The event of
 * an ended capture is invalid. */
static CUresult enter_to_wait(CUevent hEvent, struct sim_event **event)
{
    const CUresult result = sim_event_enter(hEvent, event);
    if (result != CUDA_SUCCESS)
        return result;
    switch (sim_capture_classify_event(*event, true)) {
    case SIM_EVENT_CAPTURED:
        return CUDA_ERROR_CAPTURED_EVENT;
    case SIM_EVENT_STALE:
        return CUDA_ERROR_INVALID_VALUE;
    case SIM_EVENT_PLAIN:
        break;
    }
    return sim_capture_check_unsafe();
}

CUresult cuEventQuery(CUevent hEvent)
{
    struct sim_event *event;
    uint64_t number;
    const CUresult result = enter_to_wait(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = event->object.context;
    struct sim_stream *stream = sim_event_locate(event, &number);
    if (stream == NULL)
        return CUDA_SUCCESS;
    const bool done = sim_stream_has_completed(stream, number);
    sim_object_release(stream);
    return done ? sim_context_error(context) : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent hEvent)
{
    struct sim_event *event;
    uint64_t number;
    const CUresult result = enter_to_wait(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = sim_object_retain(event->object.context);
    struct sim_stream *stream = sim_event_locate(event, &number);
    if (stream != NULL)
        sim_stream_wait(stream, number);
    const CUresult error = stream == NULL ? CUDA_SUCCESS : sim_context_error(context);
    sim_object_release(stream);
    sim_object_release(context);
    return error;
}

/* The time is 0 if the event has not happened yet. */
static CUresult read_event_time(CUevent hEvent, uint64_t *time_ns, const struct sim_context **context)
{
    struct sim_event *event;
    const CUresult result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_context_root(event->object.context);
    if ((event->flags & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (sim_capture_classify_event(event, false)) {
    case SIM_EVENT_CAPTURED:
        return CUDA_ERROR_CAPTURED_EVENT;
    case SIM_EVENT_STALE:
        return CUDA_ERROR_INVALID_VALUE;
    case SIM_EVENT_PLAIN:
        break;
    }
    pthread_mutex_lock(&event->mutex);
    const bool recorded = event->stream != NULL;
    *time_ns = atomic_load(event->stamp);
    pthread_mutex_unlock(&event->mutex);
    return recorded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* On a GPU the two versions differ in how they take the time. */
static CUresult elapsed(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    const struct sim_context *contexts[2];
    uint64_t start;
    uint64_t end;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (pMilliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = read_event_time(hStart, &start, &contexts[0]);
    if (result == CUDA_SUCCESS)
        result = read_event_time(hEnd, &end, &contexts[1]);
    if (result == CUDA_SUCCESS && contexts[0] != contexts[1])
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (start == 0 || end == 0))
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        *pMilliseconds = (float)((double)(int64_t)(end - start) * 1e-6);
    return result;
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

static CUresult wait_event(CUstream hStream, CUevent hEvent, unsigned flags, bool per_thread)
{
    struct sim_stream *stream;
    struct sim_event *event;
    CUresult result = sim_event_enter(hEvent, &event);
    if (result == CUDA_SUCCESS)
        result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool captured = false;
    result = sim_capture_wait(stream, event, (flags & CU_EVENT_WAIT_EXTERNAL) != 0, &captured);
    if (captured || result != CUDA_SUCCESS)
        return result;
    struct sim_work work = {.kind = SIM_WORK_WAIT};
    work.wait.stream = sim_event_locate(event, &work.wait.number);
    if (work.wait.stream == NULL)
        return CUDA_SUCCESS; /* never recorded: no need to wait */
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return wait_event(hStream, hEvent, Flags, false);
}

CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return wait_event(hStream, hEvent, Flags, true);
}

/* Events cannot be shared between processes here. */
CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    struct sim_event *shared;
    const CUresult result = sim_event_enter(event, &shared);
    if (result != CUDA_SUCCESS)
        return result;
    if (pHandle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((shared->flags & CU_EVENT_INTERPROCESS) == 0)
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_not_supported(__func__);
}
