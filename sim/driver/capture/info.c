/* Queries about a stream's capture, and changes of its dependencies. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/graph/graph.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    size_t *count;
    const void **edges;
};

#if CUDA_VERSION >= 12030
bool sim_capture_edges_are_plain(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    return true;
}

/* All edges are plain, so their data is zero. */
static CUresult give_edges(struct sim_participant *self, const void **edges)
{
    free(self->edges);
    self->edges = self->tail_count == 0 ? NULL : calloc(self->tail_count, sizeof(CUgraphEdgeData));
    *edges = self->edges;
    return self->tail_count != 0 && self->edges == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
#else
static CUresult give_edges(struct sim_participant *self, const void **edges)
{
    (void)self;
    (void)edges;
    return CUDA_SUCCESS;
}
#endif

static CUresult give(const struct sim_stream *stream, const struct info *info)
{
    const struct sim_capture *capture = sim_capture_of(stream);
    *info->status = capture == NULL                               ? CU_STREAM_CAPTURE_STATUS_NONE
                    : atomic_load(&capture->recorder.invalidated) ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*info->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    struct sim_participant *self = sim_capture_participant(stream);
    if (info->id != NULL)
        *info->id = capture->id;
    if (info->graph != NULL)
        *info->graph = (CUgraph)capture->graph;
    if (info->dependencies != NULL)
        *info->dependencies = self->tail_count == 0 ? NULL : (const CUgraphNode *)self->tail;
    if (info->count != NULL)
        *info->count = self->tail_count;
    return info->edges == NULL ? CUDA_SUCCESS : give_edges(self, info->edges);
}

/* Unlike every other call, a query of the legacy stream does not invalidate the captures of blocking
 * streams. */
static CUresult get(CUstream hStream, const struct info *info, bool per_thread)
{
    struct sim_stream *stream;
    if (info->status == NULL || (info->edges != NULL && info->dependencies == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream_enter_for_query(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    result = stream == context->legacy && sim_stream_forbids_legacy(context, false)
                 ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                 : give(stream, info);
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return get(hStream, &(struct info){.status = captureStatus}, false);
}

CUresult cuStreamIsCapturing_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return get(hStream, &(struct info){.status = captureStatus}, true);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                cuuint64_t *id_out)
{
    return get(hStream, &(struct info){.status = captureStatus_out, .id = id_out}, false);
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                     cuuint64_t *id_out)
{
    return get(hStream, &(struct info){.status = captureStatus_out, .id = id_out}, true);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    const struct info info = {.status = captureStatus_out,
                              .id = id_out,
                              .graph = graph_out,
                              .dependencies = dependencies_out,
                              .count = numDependencies_out};
    return get(hStream, &info, false);
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                        cuuint64_t *id_out, CUgraph *graph_out,
                                        const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    const struct info info = {.status = captureStatus_out,
                              .id = id_out,
                              .graph = graph_out,
                              .dependencies = dependencies_out,
                              .count = numDependencies_out};
    return get(hStream, &info, true);
}

#if CUDA_VERSION >= 12030
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
                                   size_t *numDependencies_out)
{
    const struct info info = {.status = captureStatus_out,
                              .id = id_out,
                              .graph = graph_out,
                              .dependencies = dependencies_out,
                              .count = numDependencies_out,
                              .edges = (const void **)edgeData_out};
    return get(hStream, &info, false);
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                        cuuint64_t *id_out, CUgraph *graph_out,
                                        const CUgraphNode **dependencies_out,
                                        const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const struct info info = {.status = captureStatus_out,
                              .id = id_out,
                              .graph = graph_out,
                              .dependencies = dependencies_out,
                              .count = numDependencies_out,
                              .edges = (const void **)edgeData_out};
    return get(hStream, &info, true);
}
#endif

static CUresult change(struct sim_stream *stream, const CUgraphNode *nodes, size_t count, unsigned flags)
{
    struct sim_graph_node *const *added = (struct sim_graph_node *const *)nodes;
    const struct sim_capture *capture = sim_capture_of(stream);
    if (capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (atomic_load(&capture->recorder.invalidated))
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if ((count != 0 && nodes == NULL) || !sim_capture_has_nodes(capture->graph, nodes, count))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_participant *self = sim_capture_participant(stream);
    if (flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return sim_capture_add_tail(self, added, count) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    /* `nodes` may be the stream's own list, as an earlier query returned it. */
    struct sim_participant fresh = {0};
    if (!sim_capture_add_tail(&fresh, added, count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    free(self->tail);
    self->tail = fresh.tail;
    self->tail_count = fresh.tail_count;
    return CUDA_SUCCESS;
}

static CUresult update(CUstream hStream, const CUgraphNode *nodes, size_t count, unsigned flags,
                       bool per_thread)
{
    struct sim_stream *stream;
    if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    result = change(stream, nodes, count, flags);
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                           size_t numDependencies, unsigned int flags)
{
    return update(hStream, dependencies, numDependencies, flags, false);
}

CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream hStream, CUgraphNode *dependencies,
                                                size_t numDependencies, unsigned int flags)
{
    return update(hStream, dependencies, numDependencies, flags, true);
}

#if CUDA_VERSION >= 12030
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                              unsigned int flags)
{
    return sim_capture_edges_are_plain(dependencyData, numDependencies)
               ? update(hStream, dependencies, numDependencies, flags, false)
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream hStream, CUgraphNode *dependencies,
                                                   const CUgraphEdgeData *dependencyData,
                                                   size_t numDependencies, unsigned int flags)
{
    return sim_capture_edges_are_plain(dependencyData, numDependencies)
               ? update(hStream, dependencies, numDependencies, flags, true)
               : CUDA_ERROR_INVALID_VALUE;
}
#endif
