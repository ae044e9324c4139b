/* Stream capture: what would be queued becomes nodes of a graph. What is refused, with which code and whether
 * the capture is invalid after it, was seen on an H200 with driver 580.159: tests/sim/observed. */
#ifndef NEUTRINO_SIM_CAPTURE_H
#define NEUTRINO_SIM_CAPTURE_H

#include "driver/core/api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_context;
struct sim_event;
struct sim_graph;
struct sim_graph_node;
struct sim_stream;
struct sim_work;

/* A stream that takes part, and the nodes that its next work depends on. */
struct sim_participant {
    struct sim_participant *next;
    struct sim_stream *stream; /* NULL: it was destroyed; what it captured must be joined all the same */
    struct sim_graph_node **tail;
    size_t tail_count;
    void *edges; /* what was last told of the edges to them; owned */
};

/* All but `next` and `spoiled` is under the `order` of the context that its streams belong to. */
struct sim_capture {
    struct sim_capture *next; /* among all of the process */
    uint64_t id;
    CUstreamCaptureMode mode;
    unsigned long long thread; /* the one that began it */
    struct sim_graph *graph;   /* a reference, so that the program may destroy it too early */
    bool given;                /* by the program, to be added to */
    struct sim_stream *origin;
    struct sim_participant *participants;
    atomic_bool spoiled; /* something was done that it cannot hold: its end will fail */
};

/* ---- What a capturing stream is given. Called with the context's `order` held. */

/* Add work to the graph that `stream` captures into. Takes what the work owns. */
CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work);

/* Whether a blocking stream captures, so that the legacy stream cannot be used: work on it would have to wait
 * for what is not queued. With `spoil` the attempt ends such captures. */
bool sim_capture_forbids_legacy(struct sim_context *context, bool spoil);

struct sim_participant *sim_capture_participant(const struct sim_stream *stream);

/* Replace what the stream's next work depends on. False: no memory. */
bool sim_capture_set_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count);

/* Add to it, each node once. */
bool sim_capture_add_tail(struct sim_participant *self, struct sim_graph_node *const *nodes, size_t count);

/* Make the stream take part. */
CUresult sim_capture_join(struct sim_capture *capture, struct sim_stream *stream,
                          struct sim_graph_node *const *tail, size_t count);

/* Every stream stops capturing. The graph, if it is still there, is kept or, with `keep` false, destroyed. */
struct sim_graph *sim_capture_finish(struct sim_capture *capture, bool keep);

/* Whether all are nodes of the graph now. */
bool sim_capture_has_nodes(const struct sim_graph *graph, const CUgraphNode *nodes, size_t count);

#if CUDA_VERSION >= 12030
/* NULL, or the data of edges that wait for all of a node, the only ones known here. */
bool sim_capture_are_plain(const CUgraphEdgeData *edges, size_t count);
#endif

/* Whether everything that any stream captured lies before the end of the origin's work. */
bool sim_capture_is_joined(const struct sim_capture *capture);

/* ---- Events, which carry a capture from stream to stream: capture_event.c. */

enum sim_capture_event {
    SIM_EVENT_PLAIN,    /* last recorded outside of captures, or never */
    SIM_EVENT_CAPTURED, /* in a capture that goes on */
    SIM_EVENT_STALE     /* in one that is over, so that it stands for nothing */
};

/* With `spoil` a capture that it belongs to becomes invalid. */
enum sim_capture_event sim_capture_of_event(struct sim_event *event, bool spoil);

/* An event is recorded on, or waited for by, `stream`. `captured`: it was the capture's, all is done. */
CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, bool external,
                            bool *captured);
CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured);

/* ---- From outside, without locks held. */

/* The stream cannot be asked for what it has run. */
void sim_capture_spoil(struct sim_stream *stream);

/* End every capture of the context badly. False: there is none. */
bool sim_capture_spoil_context(struct sim_context *context);

/* The stream ends: with it its own capture, but not one that it joined. */
void sim_capture_abandon(struct sim_stream *stream);

/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and bad ends for the captures concerned, if the calling thread may
 * not now make calls that a capture cannot see: see cuThreadExchangeStreamCaptureMode in the manual. */
CUresult sim_capture_permits_unsafe(void);

/* Among all of the process, under a lock of its own: capture_mode.c. */
void sim_capture_list(struct sim_capture *capture);
void sim_capture_unlist(struct sim_capture *capture);
bool sim_capture_fills(const struct sim_graph *graph);
bool sim_capture_goes_on(uint64_t id, bool spoil);

#endif
