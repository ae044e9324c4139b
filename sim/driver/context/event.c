/* Events over all streams of a context. */
#include "driver/context/event.h"

#include "driver/capture/capture.h"
#include "driver/stream/event.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

#if CUDA_VERSION >= 12050

/* Streams with queued work, or all streams. Each has a reference. NULL: out of memory. */
static struct sim_stream **busy_streams(struct sim_context *context, bool all, size_t *count)
{
    size_t most = 1;
    *count = 0;
    pthread_mutex_lock(&context->order);
    for (const struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next)
        most++;
    struct sim_stream **streams = calloc(most, sizeof(struct sim_stream *));
    for (struct sim_stream *stream = context->streams; stream != NULL && streams != NULL;
         stream = stream->next)
        if (all || !sim_stream_has_completed(stream, sim_stream_newest(stream)))
            streams[(*count)++] = sim_object_retain(stream);
    pthread_mutex_unlock(&context->order);
    return streams;
}

/* Records the event on a new stream that waits for all others. */
CUresult sim_context_record(struct sim_context *context, struct sim_event *event)
{
    size_t count;
    struct sim_stream **streams = busy_streams(context, false, &count);
    struct sim_stream *meeting = sim_stream_make(context, CU_STREAM_NON_BLOCKING, 0);
    CUresult result = streams == NULL || meeting == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        struct sim_work wait = {.kind = SIM_WORK_WAIT,
                                .wait = {.stream = streams[i], .number = sim_stream_newest(streams[i])}};
        if (result == CUDA_SUCCESS)
            result = sim_stream_submit(meeting, &wait, NULL);
        else
            sim_object_release(streams[i]);
    }
    struct sim_work record = {.kind = SIM_WORK_RECORD};
    if (result == CUDA_SUCCESS) {
        record.event = sim_object_retain(event);
        result = sim_stream_submit(meeting, &record, NULL);
    }
    if (meeting != NULL)
        sim_stream_close(meeting);
    free(streams);
    return result;
}

/* All streams wait now. A stream that is made later waits before its first operation. */
CUresult sim_context_wait(struct sim_context *context, struct sim_event *event)
{
    size_t count;
    uint64_t number;
    CUresult result = CUDA_SUCCESS;
    struct sim_stream *awaited = sim_event_locate(event, &number);
    if (awaited == NULL)
        return CUDA_SUCCESS;
    struct sim_stream **streams = busy_streams(context, true, &count);
    if (streams == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct sim_work wait = {.kind = SIM_WORK_WAIT, .wait = {.number = number}};
        if (result == CUDA_SUCCESS && streams[i] != awaited) {
            wait.wait.stream = sim_object_retain(awaited);
            result = sim_stream_submit(streams[i], &wait, NULL);
            if (result == CUDA_ERROR_INVALID_HANDLE)
                result = CUDA_SUCCESS; /* the stream was closed meanwhile and gets no more work */
        }
        sim_object_release(streams[i]);
    }
    free(streams);
    pthread_mutex_lock(&context->order);
    struct sim_stream *before = context->gate;
    context->gate = awaited;
    context->gate_number = number;
    pthread_mutex_unlock(&context->order);
    sim_object_release(before);
    return result;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct sim_context *context;
    struct sim_event *event;
    CUresult result = sim_enter_with(hCtx, &context);
    if (result == CUDA_SUCCESS)
        result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_context_root(event->object.context) != sim_context_root(context))
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_capture_invalidate_context(context) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                   : sim_context_record(context, event);
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct sim_context *context;
    struct sim_event *event;
    CUresult result = sim_enter_with(hCtx, &context);
    if (result == CUDA_SUCCESS)
        result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_capture_invalidate_context(context) ||
        sim_capture_classify_event(event, true) == SIM_EVENT_CAPTURED)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return sim_context_wait(context, event);
}

#endif
