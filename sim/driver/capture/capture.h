/* Stream capture: work becomes nodes of a graph in place of operations in a queue. Refusals, their codes and
 * whether they invalidate the capture are as observed on an H200 with driver 580.159: tests/sim/observed. */
#ifndef NEUTRINO_SIM_CAPTURE_H
#define NEUTRINO_SIM_CAPTURE_H

#include "driver/stream/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event;
struct sim_graph;
struct sim_graph_node;

/* A stream that takes part in a capture, and the nodes that its next work depends on. */
struct sim_participant {
    struct sim_participant *next;
    struct sim_stream
        *stream; /* NULL: the stream was destroyed, but its captured work still has to be joined */
    struct sim_graph_node **tail;
    size_t tail_count;
    void *edges; /* edge data returned by the latest query; owned */
};

/* The `order` of the streams' context protects all members but `next` and `recorder.invalidated`. */
struct sim_capture {
    struct sim_recorder recorder;
    struct sim_capture *next; /* in the list of all captures of the process */
    uint64_t id;
    CUstreamCaptureMode mode;
    unsigned long long thread; /* id of the thread that began the capture */
    struct sim_graph *graph;   /* owned reference: the program may destroy the graph during the capture */
    bool from_program;         /* the program passed the graph in */
    struct sim_stream *origin;
    struct sim_participant *participants;
};

/* ---- Work on a capturing stream. Call these with the context's `order` held. */

/* Add work to the graph that `stream` captures into. Takes what the work owns. */
CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work);

/* The capture that the stream takes part in, or NULL. */
static inline struct sim_capture *sim_capture_of(const struct sim_stream *stream)
{
    return (struct sim_capture *)stream->recorder;
}

struct sim_participant *sim_capture_participant(const struct sim_stream *stream);

/* Replace the nodes that the stream's next work depends on. False: out of memory. */
bool sim_capture_set_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count);

/* Add nodes to the stream's dependencies, each node once. */
bool sim_capture_add_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count);

/* Make the stream take part in the capture. */
CUresult sim_capture_join(struct sim_capture *capture, struct sim_stream *stream,
                          struct sim_graph_node *const *tail, size_t count);

/* End the capture on every stream that takes part. Returns the graph, or destroys it if `keep` is false.
 * NULL: the program has destroyed the graph already. */
struct sim_graph *sim_capture_finish(struct sim_capture *capture, bool keep);

/* Whether each handle is a node of the graph. */
bool sim_capture_has_nodes(const struct sim_graph *graph, const CUgraphNode *nodes, size_t count);

#if CUDA_VERSION >= 12030
/* Whether `edges` is NULL or holds only plain edges, which wait for the whole of a node. No other edges are
 * supported. */
bool sim_capture_edges_are_plain(const CUgraphEdgeData *edges, size_t count);
#endif

/* Whether the origin stream has joined the captured work of all other streams. */
bool sim_capture_is_joined(const struct sim_capture *capture);

/* ---- Events, which extend a capture to other streams: event.c. */

enum sim_capture_event {
    SIM_EVENT_PLAIN,    /* never recorded, or last recorded outside of captures */
    SIM_EVENT_CAPTURED, /* recorded in a capture that is in progress */
    SIM_EVENT_STALE     /* recorded in a capture that has ended */
};

/* With `invalidate`, invalidates the capture that the event was recorded in. */
enum sim_capture_event sim_capture_classify_event(struct sim_event *event, bool invalidate);

/* Record the event on `stream`, or make `stream` wait for it. `captured`: the capture took the call, and
 * nothing is left to queue. */
CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, bool external,
                            bool *captured);
CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured);

/* ---- Calls from outside, without locks held. */

/* Invalidate the capture that the stream takes part in, if any. */
void sim_capture_invalidate(struct sim_stream *stream);

/* Invalidate every capture of the context. False: the context has none. */
bool sim_capture_invalidate_context(struct sim_context *context);

/* Check whether the calling thread may make a call that stream capture cannot see. If not, invalidates the
 * captures in conflict and returns CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. The manual has the rules at
 * cuThreadExchangeStreamCaptureMode. */
CUresult sim_capture_check_unsafe(void);

/* sim_enter for calls that stream capture cannot see. */
CUresult sim_enter_unsafe(struct sim_context **context);

/* The list of all captures of the process, which has a lock of its own: mode.c. */
void sim_capture_list(struct sim_capture *capture);
void sim_capture_unlist(struct sim_capture *capture);
bool sim_capture_uses_graph(const struct sim_graph *graph);
bool sim_capture_is_active(uint64_t id, bool invalidate);

#endif
