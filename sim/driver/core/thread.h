/* What the driver keeps for a host thread: its stack of contexts and its per-thread default streams. */
#ifndef NEUTRINO_SIM_THREAD_H
#define NEUTRINO_SIM_THREAD_H

#include "driver/core/api.h"

#include <stddef.h>

struct sim_context;
struct sim_stream;

struct sim_thread {
    unsigned long long id; /* of no other thread, also of none that has ended */
    struct sim_context **stack;
    size_t depth;
    size_t capacity;
    struct sim_stream **streams; /* one a context at most */
    size_t stream_count;
    CUstreamCaptureMode capture_mode;
};

/* Register what happens when a thread ends. Once, before any other call here. False: no key left. */
int sim_thread_start(void);

/* Of the calling thread; NULL without memory. */
struct sim_thread *sim_thread_self(void);

#endif
