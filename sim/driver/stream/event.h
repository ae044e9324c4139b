#ifndef NEUTRINO_SIM_EVENT_H
#define NEUTRINO_SIM_EVENT_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "driver/stream/stamp.h"

#include <pthread.h>
#include <stdint.h>

struct sim_capture;
struct sim_graph_node;
struct sim_stream;

/* An event is a place in a stream. It has happened when the operation of that number has run. */
struct sim_event {
    struct sim_object object;
    unsigned flags;
    pthread_mutex_t mutex;
    struct sim_stream *stream; /* of the last record, owned reference; NULL: never recorded */
    uint64_t number;
    sim_stamp *stamp;              /* when the operation ran; owned */
    uint64_t capture;              /* id of the capture of the last record; 0: not captured */
    struct sim_graph_node **nodes; /* captured nodes that a waiting stream depends on; owned array */
    size_t node_count;
};

/* An unpublished event. NULL: out of memory. */
struct sim_event *sim_event_make(struct sim_context *context, unsigned flags);

/* Checks of calls on an event: initialized, a valid handle, its context alive and without a sticky error.
 * Needs no current context. */
CUresult sim_event_enter(CUevent handle, struct sim_event **event);

/* The place of the last record outside of captures, with a reference to the stream. NULL: never recorded. */
struct sim_stream *sim_event_locate(struct sim_event *event, uint64_t *number);

/* Move the event to operation `number` of `stream`, which has not run yet. */
void sim_event_place(struct sim_event *event, struct sim_stream *stream, uint64_t number);

#endif
