/* Beginning and ending a stream capture. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/core/thread.h"
#include "driver/graph/graph.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

static atomic_ullong next_id = 1;

struct begin_request {
    CUstreamCaptureMode mode;
    struct sim_graph *graph; /* NULL: make a new graph */
    struct sim_graph_node *const *dependencies;
    size_t count;
};

/* Called with the context's `order` held. */
static CUresult start(struct sim_stream *stream, const struct begin_request *request)
{
    const struct sim_thread *self = sim_thread_self();
    if (stream->recorder != NULL || (request->graph != NULL && sim_capture_uses_graph(request->graph)))
        return CUDA_ERROR_ILLEGAL_STATE;
    struct sim_capture *capture = calloc(1, sizeof(*capture));
    if (capture != NULL)
        capture->graph = request->graph != NULL ? request->graph : sim_graph_make();
    if (self == NULL || capture == NULL || capture->graph == NULL) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (void)sim_object_retain(capture->graph);
    capture->from_program = request->graph != NULL;
    capture->id = atomic_fetch_add(&next_id, 1);
    capture->mode = request->mode;
    capture->thread = self->id;
    capture->origin = stream;
    sim_capture_list(capture);
    const CUresult result = sim_capture_join(capture, stream, request->dependencies, request->count);
    if (result != CUDA_SUCCESS)
        (void)sim_capture_finish(capture, request->graph != NULL);
    return result;
}

static CUresult begin(CUstream hStream, const struct begin_request *request, bool per_thread)
{
    struct sim_stream *stream;
    if ((unsigned)request->mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    if (stream == context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    pthread_mutex_lock(&context->order);
    result = start(stream, request);
    pthread_mutex_unlock(&context->order);
    return result;
}

CUresult cuStreamBeginCapture(CUstream hStream)
{
    return begin(hStream, &(struct begin_request){.mode = CU_STREAM_CAPTURE_MODE_GLOBAL}, false);
}

CUresult cuStreamBeginCapture_ptsz(CUstream hStream)
{
    return begin(hStream, &(struct begin_request){.mode = CU_STREAM_CAPTURE_MODE_GLOBAL}, true);
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, &(struct begin_request){.mode = mode}, false);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, &(struct begin_request){.mode = mode}, true);
}

#if CUDA_VERSION >= 12030
static CUresult begin_to_graph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                               const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode,
                               bool per_thread)
{
    struct sim_graph *graph = sim_object_find(hGraph, SIM_GRAPH);
    const struct begin_request request = {mode, graph, (struct sim_graph_node *const *)dependencies, count};
    if (graph == NULL || (count != 0 && dependencies == NULL) ||
        !sim_capture_has_nodes(graph, dependencies, count) || !sim_capture_edges_are_plain(edges, count))
        return CUDA_ERROR_INVALID_VALUE;
    return begin(hStream, &request, per_thread);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode)
{
    return begin_to_graph(hStream, hGraph, dependencies, dependencyData, numDependencies, mode, false);
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                          const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                          CUstreamCaptureMode mode)
{
    return begin_to_graph(hStream, hGraph, dependencies, dependencyData, numDependencies, mode, true);
}
#endif

static bool is_wrong_thread(const struct sim_capture *capture)
{
    const struct sim_thread *self = sim_thread_self();
    return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && self != NULL && capture->thread != self->id;
}

/* Ends the capture in every case, unless it belongs to another stream. A graph that the program passed in is
 * destroyed too if its capture failed. So is a new graph if there is nowhere to return it: the program could
 * not reach it. */
static CUresult stop(struct sim_stream *stream, bool wanted, struct sim_graph **graph)
{
    struct sim_capture *capture = sim_capture_of(stream);
    CUresult result = CUDA_SUCCESS;
    if (capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream) {
        atomic_store(&capture->recorder.invalidated, true);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (atomic_load(&capture->recorder.invalidated) || sim_object_find(capture->graph, SIM_GRAPH) == NULL)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (is_wrong_thread(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else if (!sim_capture_is_joined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = sim_capture_finish(capture, result == CUDA_SUCCESS && (wanted || capture->from_program));
    return result;
}

static CUresult end(CUstream hStream, CUgraph *phGraph, bool per_thread)
{
    struct sim_stream *stream;
    struct sim_graph *graph = NULL;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    result = stop(stream, phGraph != NULL, &graph);
    pthread_mutex_unlock(&context->order);
    if (phGraph != NULL)
        *phGraph = (CUgraph)graph;
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
