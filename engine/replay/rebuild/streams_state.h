/* The part of struct nb_replay that belongs to streams.h. */
#ifndef NEUTRINO_ENGINE_STREAMS_STATE_H
#define NEUTRINO_ENGINE_STREAMS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_stream {
    CUstream stream;
    CUevent joined;
    bool used;    /* an operation uses it */
    bool created; /* created by the engine */
    bool fork;    /* the region does not order its first work behind the start */
    bool join;    /* the region does not order its last work before the end */
};

struct nb_streams {
    CUstream own;       /* ours */
    CUstream timed;     /* `own`, or the region's first stream */
    CUevent start, end; /* the only events with timing */
    CUevent fork;
    struct nb_stream *streams; /* as the capture numbers them */
    uint32_t count;
    uint32_t used_count;
    uint32_t main; /* the region's first; its operations are on the timed stream */
    bool several;  /* more than one stream is used */
    uint32_t stop; /* from this operation on, all operations only synchronise, with nothing left to order */
    CUevent *events;
    uint32_t event_count;
};

#endif
