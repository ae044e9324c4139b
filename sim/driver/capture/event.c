/* Events extend a capture from one stream to another. */
#include "driver/stream/event.h"
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/graph/graph.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

enum sim_capture_event sim_capture_classify_event(struct sim_event *event, bool invalidate)
{
    pthread_mutex_lock(&event->mutex);
    const uint64_t id = event->capture;
    pthread_mutex_unlock(&event->mutex);
    if (id == 0)
        return SIM_EVENT_PLAIN;
    return sim_capture_is_active(id, invalidate) ? SIM_EVENT_CAPTURED : SIM_EVENT_STALE;
}

static CUresult record(struct sim_stream *stream, struct sim_event *event)
{
    const struct sim_participant *self = sim_capture_participant(stream);
    if (atomic_load(&stream->recorder->invalidated))
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const size_t bytes = self->tail_count * sizeof(struct sim_graph_node *);
    struct sim_graph_node **nodes = malloc(bytes + 1);
    if (nodes == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes != 0)
        memcpy(nodes, self->tail, bytes);
    pthread_mutex_lock(&event->mutex);
    free(event->nodes);
    event->nodes = nodes;
    event->node_count = self->tail_count;
    event->capture = sim_capture_of(stream)->id;
    pthread_mutex_unlock(&event->mutex);
    return CUDA_SUCCESS;
}

CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured)
{
    struct sim_context *context = stream->object.context;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&context->order);
    *captured = stream->recorder != NULL && !external;
    if (*captured)
        result = record(stream, event);
    else if (external && stream->recorder == NULL)
        result = CUDA_ERROR_ILLEGAL_STATE; /* "external" is allowed in captures only */
    pthread_mutex_unlock(&context->order);
    return result;
}

static struct sim_capture *find(const struct sim_context *context, uint64_t id)
{
    const struct sim_stream *stream = context->streams;
    while (stream != NULL && (stream->recorder == NULL || sim_capture_of(stream)->id != id))
        stream = stream->next;
    return stream == NULL ? NULL : sim_capture_of(stream);
}

static CUresult invalidate_with(struct sim_capture *capture, CUresult result)
{
    if (capture != NULL)
        atomic_store(&capture->recorder.invalidated, true);
    return result;
}

/* Make the stream's next work depend on the nodes that an event of `capture` stands for. */
static CUresult follow(struct sim_stream *stream, struct sim_capture *capture, const struct sim_event *event)
{
    if (stream == stream->object.context->legacy)
        return invalidate_with(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (atomic_load(&capture->recorder.invalidated))
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->recorder == NULL)
        return sim_capture_join(capture, stream, event->nodes, event->node_count);
    if (sim_capture_of(stream) != capture) {
        (void)invalidate_with(sim_capture_of(stream), CUDA_SUCCESS);
        return invalidate_with(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    return sim_capture_add_tail(sim_capture_participant(stream), event->nodes, event->node_count)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult wait_external(struct sim_stream *stream, struct sim_event *event)
{
    struct sim_work work = {.kind = SIM_WORK_WAIT, .wait = {.event = sim_object_retain(event)}};
    if (stream->recorder != NULL)
        return sim_capture_add(stream, &work);
    sim_work_clear(&work);
    return CUDA_ERROR_ILLEGAL_STATE;
}

static CUresult wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured)
{
    struct sim_capture *own = sim_capture_of(stream);
    *captured = true;
    if (external)
        return wait_external(stream, event);
    if (event->capture != 0) {
        struct sim_capture *capture = find(stream->object.context, event->capture);
        /* No such capture: it has ended, or it belongs to another context. */
        return capture == NULL ? invalidate_with(own, CUDA_ERROR_INVALID_VALUE)
                               : follow(stream, capture, event);
    }
    *captured = own != NULL;
    if (own == NULL)
        return CUDA_SUCCESS;
    if (atomic_load(&own->recorder.invalidated))
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    /* An event that was never recorded has nothing to wait for. */
    return event->stream == NULL ? CUDA_SUCCESS : invalidate_with(own, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured)
{
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    pthread_mutex_lock(&event->mutex);
    const CUresult result = wait(stream, event, external, captured);
    pthread_mutex_unlock(&event->mutex);
    pthread_mutex_unlock(&context->order);
    return result;
}
