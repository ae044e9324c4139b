/* The part of struct nb_replay that belongs to streams.h. */
#ifndef NEUTRINO_ENGINE_STREAMS_STATE_H
#define NEUTRINO_ENGINE_STREAMS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_stream {
    CUstream stream;
    CUevent joined;
    bool used;    /* an operation is on it */
    bool created; /* by us */
    bool fork;    /* nothing in the region orders its first work behind the start */
    bool join;    /* or its last work before the end */
};

struct nb_streams {
    CUstream own;       /* ours */
    CUstream timed;     /* it, or the region's first one */
    CUevent start, end; /* the only ones that take the time */
    CUevent fork;
    struct nb_stream *streams; /* as the capture numbers them */
    uint32_t count;
    uint32_t used_count;
    uint32_t main; /* the region's first; its operations are on the timed stream */
    bool several;  /* are used */
    uint32_t stop; /* from this operation on there are only joins, which order nothing any more */
    CUevent *events;
    uint32_t event_count;
};

#endif
