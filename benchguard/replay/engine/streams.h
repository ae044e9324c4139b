/* Streams and events of the region, and the stream that is timed.
 *
 * A region that used one stream runs on the timed stream. Otherwise its streams are what they were: they are
 * forked from the timed stream by one event and joined to it by one event each. */
#ifndef NEUTRINO_ENGINE_STREAMS_H
#define NEUTRINO_ENGINE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

struct nb_replay;

struct nb_stream {
    CUstream stream;
    CUevent joined;
    bool used;    /* an operation is on it */
    bool created; /* by us */
};

struct nb_streams {
    CUstream timed;
    CUevent start, end; /* the only ones that take the time */
    CUevent fork;
    struct nb_stream *streams; /* as the capture numbers them */
    uint32_t count;
    uint32_t used_count;
    bool forked; /* more than one is used */
    CUevent *events;
    uint32_t event_count;
};

int nb_streams_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Let every used stream wait for what the timed one was given so far, and the other way round. */
int nb_streams_fork(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_streams_join(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* All streams wait for one, or for all where `stream` is NB_NOTHING. */
int nb_streams_order(struct nb_replay *replay, uint32_t stream) __attribute__((visibility("hidden")));

void nb_streams_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
