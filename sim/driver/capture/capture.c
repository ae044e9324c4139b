#include "driver/capture/capture.h"

#include "driver/context/context.h"
#include "driver/graph/attribute.h"
#include "driver/graph/graph.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct sim_participant *sim_capture_participant(const struct sim_stream *stream)
{
    struct sim_participant *found = sim_capture_of(stream)->participants;
    while (found->stream != stream)
        found = found->next;
    return found;
}

bool sim_capture_set_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count)
{
    free(self->tail);
    self->tail = NULL;
    self->tail_count = 0;
    return sim_capture_add_tail(self, nodes, count);
}

static bool is_node(const struct sim_graph *graph, const void *handle)
{
    const struct sim_graph_node *node = sim_object_find(handle, SIM_GRAPH_NODE);
    return node != NULL && node->graph == graph;
}

bool sim_capture_has_nodes(const struct sim_graph *graph, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_node(graph, nodes[i]))
            return false;
    return true;
}

bool sim_capture_add_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count)
{
    if (count == 0 || nodes == self->tail)
        return true;
    struct sim_graph_node **tail =
        realloc(self->tail, (self->tail_count + count) * sizeof(struct sim_graph_node *));
    if (tail == NULL)
        return false;
    self->tail = tail;
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        while (known < self->tail_count && tail[known] != nodes[i])
            known++;
        if (known == self->tail_count)
            tail[self->tail_count++] = nodes[i];
    }
    return true;
}

/* Drop nodes that the program has destroyed meanwhile. */
static void prune(struct sim_participant *self, const struct sim_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->tail_count; i++)
        if (is_node(graph, self->tail[i]))
            self->tail[kept++] = self->tail[i];
    self->tail_count = kept;
}

/* Closing a stream ends the capture that the stream began. A capture that the stream only joined goes on. */
static void leave(struct sim_stream *stream)
{
    struct sim_capture *capture = sim_capture_of(stream);
    if (capture->origin == stream)
        (void)sim_capture_finish(capture, false);
    else
        sim_capture_participant(stream)->stream = NULL;
    stream->recorder = NULL;
}

CUresult sim_capture_join(struct sim_capture *capture, struct sim_stream *stream,
                          struct sim_graph_node *const *tail, size_t count)
{
    struct sim_participant *made = calloc(1, sizeof(*made));
    if (made == NULL || !sim_capture_set_tail(made, tail, count)) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->stream = stream;
    made->next = capture->participants;
    capture->participants = made;
    capture->recorder.add = sim_capture_add;
    capture->recorder.leave = leave;
    stream->recorder = &capture->recorder;
    return CUDA_SUCCESS;
}

struct sim_graph *sim_capture_finish(struct sim_capture *capture, bool keep)
{
    struct sim_graph *graph = capture->graph;
    const bool there = sim_object_find(graph, SIM_GRAPH) != NULL;
    sim_capture_unlist(capture);
    while (capture->participants != NULL) {
        struct sim_participant *first = capture->participants;
        capture->participants = first->next;
        if (first->stream != NULL)
            first->stream->recorder = NULL;
        free(first->tail);
        free(first->edges);
        free(first);
    }
    free(capture);
    if (there && !keep)
        sim_graph_close(graph);
    sim_object_release(graph);
    return there && keep ? graph : NULL;
}

static bool does_nothing(const struct sim_work *work)
{
    return (work->kind == SIM_WORK_COPY && (work->copy.width == 0 || work->copy.height == 0)) ||
           (work->kind == SIM_WORK_SET && (work->set.width == 0 || work->set.height == 0));
}

CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work)
{
    struct sim_capture *capture = sim_capture_of(stream);
    struct sim_participant *self = sim_capture_participant(stream);
    struct sim_graph_node *node;
    if (sim_object_find(capture->graph, SIM_GRAPH) == NULL) /* the program destroyed it */
        atomic_store(&capture->recorder.invalidated, true);
    if (atomic_load(&capture->recorder.invalidated)) {
        sim_work_clear(work);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    prune(self, capture->graph);
    if (does_nothing(work)) { /* an H200 adds no node either */
        sim_work_clear(work);
        return CUDA_SUCCESS;
    }
    if (work->kind == SIM_WORK_PLAN || work->kind == SIM_WORK_CALLBACK || work->kind == SIM_WORK_FREE) {
        atomic_store(&capture->recorder.invalidated, true);
        sim_work_clear(work);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult result = sim_graph_add(capture->graph, self->tail, self->tail_count, work, &node);
    if (result == CUDA_SUCCESS && node->work.kind == SIM_WORK_LAUNCH)
        result = sim_graph_attribute_set_priority(node, stream->priority);
    if (result == CUDA_SUCCESS && !sim_capture_set_tail(self, &node, 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

void sim_capture_invalidate(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    pthread_mutex_lock(&context->order);
    if (stream->recorder != NULL)
        atomic_store(&stream->recorder->invalidated, true);
    pthread_mutex_unlock(&context->order);
}

bool sim_capture_invalidate_context(struct sim_context *context)
{
    bool any = false;
    pthread_mutex_lock(&context->order);
    for (struct sim_stream *stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->recorder != NULL) {
            atomic_store(&stream->recorder->invalidated, true);
            any = true;
        }
    pthread_mutex_unlock(&context->order);
    return any;
}

/* Mark `node`, and every node it depends on, by their index in the graph. */
static void mark(const struct sim_graph *graph, const struct sim_graph_node *node, bool *marked)
{
    size_t index = 0;
    while (index < graph->node_count && graph->nodes[index] != node)
        index++;
    if (index == graph->node_count || marked[index])
        return;
    marked[index] = true;
    for (size_t i = 0; i < node->dependency_count; i++)
        mark(graph, node->dependencies[i], marked);
}

bool sim_capture_is_joined(const struct sim_capture *capture)
{
    const struct sim_graph *graph = capture->graph;
    const struct sim_participant *origin = sim_capture_participant(capture->origin);
    bool *marked = calloc(graph->node_count + 1, sizeof(*marked));
    bool joined = marked != NULL;
    for (size_t i = 0; i < origin->tail_count && joined; i++)
        mark(graph, origin->tail[i], marked);
    for (const struct sim_participant *other = capture->participants; other != NULL; other = other->next)
        for (size_t t = 0; t < other->tail_count && joined; t++) {
            size_t index = 0;
            while (index < graph->node_count && graph->nodes[index] != other->tail[t])
                index++;
            joined = index == graph->node_count || marked[index];
        }
    free(marked);
    return joined;
}
