#include "driver/stream/event.h"

#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"
#include "driver/core/stub.h"

#include <stdlib.h>
#include <time.h>

static void dispose(struct sim_object *object)
{
    struct sim_event *event = (struct sim_event *)object;
    sim_object_release(event->stream);
    free(event->nodes);
    pthread_mutex_destroy(&event->mutex);
    free(event);
}

void sim_event_place(struct sim_event *event, struct sim_stream *stream, uint64_t number)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *before = event->stream;
    event->stream = sim_object_retain(stream);
    event->number = number;
    event->time_ns = 0;
    event->capture = 0;
    pthread_mutex_unlock(&event->mutex);
    sim_object_release(before);
}

void sim_event_happened(struct sim_event *event, const struct sim_stream *stream, uint64_t number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&event->mutex);
    if (event->stream == stream && event->number == number) /* else it was recorded anew since */
        event->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    pthread_mutex_unlock(&event->mutex);
}

void sim_event_wait(struct sim_event *event, const struct sim_stream *waiter)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *stream =
        event->stream == waiter || event->stream == NULL ? NULL : sim_object_retain(event->stream);
    const uint64_t number = event->number;
    pthread_mutex_unlock(&event->mutex);
    if (stream != NULL)
        sim_stream_wait(stream, number);
    sim_object_release(stream);
}

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
    struct sim_event *event = calloc(1, sizeof(*event));
    if (event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&event->object, SIM_EVENT, context, dispose);
    pthread_mutex_init(&event->mutex, NULL);
    event->flags = Flags;
    if (!sim_object_publish(event)) {
        sim_object_release(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult sim_event_enter(CUevent handle, struct sim_event **event)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *event = sim_object_find(handle, SIM_EVENT);
    return *event == NULL ? CUDA_ERROR_INVALID_HANDLE : sim_context_usable((*event)->object.context);
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

/* What the host may be told of an event. One that was recorded in a capture will happen only in a graph, and
 * asking for it ends the capture; one of a capture that is over stands for nothing. */
static CUresult enter_to_wait(CUevent hEvent, struct sim_event **event)
{
    const CUresult result = sim_event_enter(hEvent, event);
    if (result != CUDA_SUCCESS)
        return result;
    switch (sim_capture_of_event(*event, true)) {
    case SIM_EVENT_CAPTURED:
        return CUDA_ERROR_CAPTURED_EVENT;
    case SIM_EVENT_STALE:
        return CUDA_ERROR_INVALID_VALUE;
    case SIM_EVENT_PLAIN:
        break;
    }
    return sim_capture_permits_unsafe();
}

struct sim_stream *sim_event_at(struct sim_event *event, uint64_t *number)
{
    pthread_mutex_lock(&event->mutex);
    struct sim_stream *stream = event->stream == NULL ? NULL : sim_object_retain(event->stream);
    *number = event->number;
    pthread_mutex_unlock(&event->mutex);
    return stream;
}

CUresult cuEventQuery(CUevent hEvent)
{
    struct sim_event *event;
    uint64_t number;
    const CUresult result = enter_to_wait(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = event->object.context;
    struct sim_stream *stream = sim_event_at(event, &number);
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
    struct sim_stream *stream = sim_event_at(event, &number);
    if (stream != NULL)
        sim_stream_wait(stream, number);
    const CUresult error = stream == NULL ? CUDA_SUCCESS : sim_context_error(context);
    sim_object_release(stream);
    sim_object_release(context);
    return error;
}

/* 0: not yet. */
static CUresult happened_at(CUevent hEvent, uint64_t *time_ns, const struct sim_context **context)
{
    struct sim_event *event;
    const CUresult result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_context_root(event->object.context);
    if ((event->flags & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (sim_capture_of_event(event, false)) {
    case SIM_EVENT_CAPTURED:
        return CUDA_ERROR_CAPTURED_EVENT;
    case SIM_EVENT_STALE:
        return CUDA_ERROR_INVALID_VALUE;
    case SIM_EVENT_PLAIN:
        break;
    }
    pthread_mutex_lock(&event->mutex);
    const bool recorded = event->stream != NULL;
    *time_ns = event->time_ns;
    pthread_mutex_unlock(&event->mutex);
    return recorded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The two versions differ only in how a GPU takes the times. */
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
    result = happened_at(hStart, &start, &contexts[0]);
    if (result == CUDA_SUCCESS)
        result = happened_at(hEnd, &end, &contexts[1]);
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
    work.wait.stream = sim_event_at(event, &work.wait.number);
    if (work.wait.stream == NULL)
        return CUDA_SUCCESS; /* never recorded: nothing to wait for */
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

/* No event is shared with another process here. */
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
