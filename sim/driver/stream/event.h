#ifndef NEUTRINO_SIM_EVENT_H
#define NEUTRINO_SIM_EVENT_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <pthread.h>
#include <stdint.h>

struct sim_capture;
struct sim_graph_node;
struct sim_stream;

/* An event is a place in a stream: it has happened when the operation of that number has run. */
struct sim_event {
    struct sim_object object;
    unsigned flags;
    pthread_mutex_t mutex;
    struct sim_stream *stream; /* where it was last recorded: owned reference; NULL: never */
    uint64_t number;
    uint64_t time_ns;              /* CLOCK_MONOTONIC when that operation ran; 0: not yet */
    uint64_t capture;              /* id of the capture it was last recorded in, 0: none */
    struct sim_graph_node **nodes; /* what a stream that waits for it then follows; owned array */
    size_t node_count;
};

/* What begins a call on an event: initialised, a valid handle, its context alive and without a sticky error.
 * No context need be current. */
CUresult sim_event_enter(CUevent handle, struct sim_event **event);

/* Where it was last recorded outside of captures, with a reference to the stream; NULL: never. */
struct sim_stream *sim_event_at(struct sim_event *event, uint64_t *number);

/* The record operation has run. */
void sim_event_happened(struct sim_event *event, const struct sim_stream *stream, uint64_t number);

/* The event is now operation `number` of `stream`, which has not run yet. */
void sim_event_place(struct sim_event *event, struct sim_stream *stream, uint64_t number);

/* Wait, on the worker of `waiter`, until the event has happened where it was last recorded. */
void sim_event_wait(struct sim_event *event, const struct sim_stream *waiter);

#endif
