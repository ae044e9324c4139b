#include "capture.h"

#include "context.h"
#include "event.h"
#include "graph.h"
#include "graph_attribute.h"
#include "stream.h"
#include "thread.h"

#include <stdlib.h>
#include <string.h>

/* A stream that takes part, and the nodes that its next work depends on. */
struct participant {
    struct participant *next;
    struct sim_stream *stream;
    struct sim_graph_node **tail;
    size_t tail_count;
};

struct sim_capture {
    uint64_t id;
    struct sim_graph *graph;
    struct sim_stream *origin;
    struct participant *participants;
    bool spoiled;
};

static atomic_ullong next_id = 1;

static struct participant *participant_of(const struct sim_stream *stream)
{
    struct participant *found = stream->capture->participants;
    while (found->stream != stream)
        found = found->next;
    return found;
}

static bool copy_nodes(struct sim_graph_node *const *nodes, size_t count, struct sim_graph_node ***copy)
{
    *copy = malloc((count + 1) * sizeof(**copy));
    if (*copy == NULL)
        return false;
    if (count != 0)
        memcpy(*copy, nodes, count * sizeof(**copy));
    return true;
}

static CUresult join(struct sim_capture *capture, struct sim_stream *stream,
                     struct sim_graph_node *const *tail, size_t count)
{
    struct participant *made = calloc(1, sizeof(*made));
    if (made == NULL || !copy_nodes(tail, count, &made->tail)) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->stream = stream;
    made->tail_count = count;
    made->next = capture->participants;
    capture->participants = made;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

/* Every stream stops capturing; the graph is the caller's. */
static struct sim_graph *finish(struct sim_capture *capture)
{
    struct sim_graph *graph = capture->graph;
    while (capture->participants != NULL) {
        struct participant *first = capture->participants;
        capture->participants = first->next;
        first->stream->capture = NULL;
        free(first->tail);
        free(first);
    }
    free(capture);
    return graph;
}

CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work)
{
    struct sim_graph_node *node;
    struct participant *self = participant_of(stream);
    if (stream->capture->spoiled) {
        sim_work_clear(work);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (work->kind == SIM_WORK_PLAN || work->kind == SIM_WORK_CALLBACK || work->kind == SIM_WORK_FREE) {
        sim_capture_spoil(stream);
        sim_work_clear(work);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult result = sim_graph_add(stream->capture->graph, self->tail, self->tail_count, work, &node);
    if (result == CUDA_SUCCESS && node->work.kind == SIM_WORK_LAUNCH)
        result = sim_graph_attribute_set_priority(node, stream->priority);
    if (result == CUDA_SUCCESS) {
        struct sim_graph_node **tail = realloc(self->tail, sizeof(*tail));
        if (tail == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        tail[0] = node;
        self->tail = tail;
        self->tail_count = 1;
    }
    return result;
}

void sim_capture_spoil(struct sim_stream *stream)
{
    stream->capture->spoiled = true;
}

bool sim_capture_forbids_legacy(struct sim_context *context)
{
    bool forbids = false;
    for (struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->capture != NULL && (stream->flags & CU_STREAM_NON_BLOCKING) == 0) {
            stream->capture->spoiled = true;
            forbids = true;
        }
    return forbids;
}

void sim_capture_abandon(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    if (stream->capture != NULL)
        sim_graph_close(finish(stream->capture));
    pthread_mutex_unlock(&context->order);
}

CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured)
{
    struct sim_context *context = stream->object.context;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&context->order);
    *captured = stream->capture != NULL && !external;
    if (*captured) {
        const struct participant *self = participant_of(stream);
        struct sim_graph_node **nodes;
        if (!copy_nodes(self->tail, self->tail_count, &nodes)) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        } else {
            pthread_mutex_lock(&event->mutex);
            free(event->nodes);
            event->nodes = nodes;
            event->node_count = self->tail_count;
            event->capture = stream->capture->id;
            pthread_mutex_unlock(&event->mutex);
        }
    }
    pthread_mutex_unlock(&context->order);
    return result;
}

static struct sim_capture *find(const struct sim_context *context, uint64_t id)
{
    const struct sim_stream *stream = context->streams;
    while (stream != NULL && (stream->capture == NULL || stream->capture->id != id))
        stream = stream->next;
    return stream == NULL ? NULL : stream->capture;
}

/* The stream's next work also depends on what the event stands for. */
static CUresult follow(struct sim_stream *stream, struct sim_capture *capture, const struct sim_event *event)
{
    if (stream->capture == NULL)
        return join(capture, stream, event->nodes, event->node_count);
    if (stream->capture != capture)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    struct participant *self = participant_of(stream);
    struct sim_graph_node **tail =
        realloc(self->tail, (self->tail_count + event->node_count + 1) * sizeof(*tail));
    if (tail == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    self->tail = tail;
    for (size_t i = 0; i < event->node_count; i++) {
        size_t known = 0;
        while (known < self->tail_count && tail[known] != event->nodes[i])
            known++;
        if (known == self->tail_count)
            tail[self->tail_count++] = event->nodes[i];
    }
    return CUDA_SUCCESS;
}

CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured)
{
    struct sim_context *context = stream->object.context;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&context->order);
    pthread_mutex_lock(&event->mutex);
    struct sim_capture *capture = event->capture == 0 ? NULL : find(context, event->capture);
    *captured = true;
    if (external && stream->capture != NULL) {
        struct sim_work work = {.kind = SIM_WORK_WAIT, .wait = {.event = sim_object_retain(event)}};
        result = sim_capture_add(stream, &work);
    } else if (capture != NULL) {
        result = follow(stream, capture, event);
    } else if (stream->capture != NULL) {
        sim_capture_spoil(stream);
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    } else {
        *captured = false;
    }
    pthread_mutex_unlock(&event->mutex);
    pthread_mutex_unlock(&context->order);
    return result;
}

static bool reaches(const struct sim_graph_node *from, const struct sim_graph_node *to)
{
    if (from == to)
        return true;
    for (size_t i = 0; i < from->dependency_count; i++)
        if (reaches(from->dependencies[i], to))
            return true;
    return false;
}

/* Whether everything that any stream captured lies before the end of the origin's work. */
static bool is_joined(const struct sim_capture *capture)
{
    const struct participant *origin = participant_of(capture->origin);
    for (const struct participant *other = capture->participants; other != NULL; other = other->next)
        for (size_t i = 0; i < other->tail_count; i++) {
            bool joined = false;
            for (size_t t = 0; t < origin->tail_count && !joined; t++)
                joined = reaches(origin->tail[t], other->tail[i]);
            if (!joined)
                return false;
        }
    return true;
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

static CUresult begin(CUstream hStream, CUstreamCaptureMode mode, bool per_thread)
{
    struct sim_stream *stream;
    CUresult result = resolve(hStream, per_thread, &stream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *context = stream->object.context;
    if (stream == context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    pthread_mutex_lock(&context->order);
    struct sim_capture *capture = stream->capture == NULL ? calloc(1, sizeof(*capture)) : NULL;
    if (stream->capture != NULL) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (capture == NULL || (capture->graph = sim_graph_make()) == NULL) {
        free(capture);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        capture->id = atomic_fetch_add(&next_id, 1);
        capture->origin = stream;
        result = join(capture, stream, NULL, 0);
        if (result != CUDA_SUCCESS)
            sim_graph_close(finish(capture));
    }
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult cuStreamBeginCapture(CUstream hStream)
{
    return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, false);
}

CUresult cuStreamBeginCapture_ptsz(CUstream hStream)
{
    return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, true);
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, mode, false);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, mode, true);
}

static CUresult end(CUstream hStream, CUgraph *phGraph, bool per_thread)
{
    struct sim_stream *stream;
    CUresult result = resolve(hStream, per_thread, phGraph, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    struct sim_capture *capture = stream->capture;
    if (capture == NULL) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (capture->origin != stream) {
        capture->spoiled = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    } else {
        if (capture->spoiled)
            result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (!is_joined(capture))
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        struct sim_graph *graph = finish(capture);
        *phGraph = result == CUDA_SUCCESS ? (CUgraph)graph : NULL;
        if (result != CUDA_SUCCESS)
            sim_graph_close(graph);
    }
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    return end(hStream, phGraph, false);
}

CUresult cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
    return end(hStream, phGraph, true);
}

struct info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    size_t *count;
};

static CUresult get_info(CUstream hStream, const struct info *info, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = resolve(hStream, per_thread, info->status, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    const struct sim_capture *capture = stream->capture;
    *info->status = capture == NULL    ? CU_STREAM_CAPTURE_STATUS_NONE
                    : capture->spoiled ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture != NULL) {
        const struct participant *self = participant_of(stream);
        if (info->id != NULL)
            *info->id = capture->id;
        if (info->graph != NULL)
            *info->graph = (CUgraph)capture->graph;
        if (info->dependencies != NULL)
            *info->dependencies = (const CUgraphNode *)self->tail;
        if (info->count != NULL)
            *info->count = self->tail_count;
    }
    pthread_mutex_unlock(&context->order);
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return get_info(hStream, &(struct info){.status = captureStatus}, false);
}

CUresult cuStreamIsCapturing_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return get_info(hStream, &(struct info){.status = captureStatus}, true);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                cuuint64_t *id_out)
{
    return get_info(hStream, &(struct info){.status = captureStatus_out, .id = id_out}, false);
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                     cuuint64_t *id_out)
{
    return get_info(hStream, &(struct info){.status = captureStatus_out, .id = id_out}, true);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out};
    return get_info(hStream, &info, false);
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                        cuuint64_t *id_out, CUgraph *graph_out,
                                        const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out};
    return get_info(hStream, &info, true);
}

#if CUDA_VERSION >= 12030
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
                                   size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out};
    if (edgeData_out != NULL)
        *edgeData_out = NULL; /* full dependencies only */
    return get_info(hStream, &info, false);
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                        cuuint64_t *id_out, CUgraph *graph_out,
                                        const CUgraphNode **dependencies_out,
                                        const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out};
    if (edgeData_out != NULL)
        *edgeData_out = NULL;
    return get_info(hStream, &info, true);
}
#endif

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    struct sim_thread *self = result == CUDA_SUCCESS ? sim_thread_self() : NULL;
    if (result != CUDA_SUCCESS)
        return result;
    if (mode == NULL || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED || self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUstreamCaptureMode before = self->capture_mode;
    self->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
