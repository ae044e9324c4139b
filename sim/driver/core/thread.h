/* Data of a host thread: its stack of contexts and its per-thread default streams. */
#ifndef NEUTRINO_SIM_THREAD_H
#define NEUTRINO_SIM_THREAD_H

#include "driver/core/api.h"

#include <stddef.h>

struct sim_context;
struct sim_object;

struct sim_thread {
    unsigned long long id; /* unique in the process, also among ended threads */
    struct sim_context **stack;
    size_t depth;
    size_t capacity;
    struct sim_object **streams; /* at most one per context */
    size_t stream_count;
    CUstreamCaptureMode capture_mode;
};

/* Create the key whose destructor cleans up after a thread. Call once, before sim_thread_self. False: no key
 * left. */
int sim_thread_start(void);

/* Data of the calling thread. NULL: out of memory. */
struct sim_thread *sim_thread_self(void);

#endif
