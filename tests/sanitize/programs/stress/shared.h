/* Streams and events that all threads use and replace. As with a GPU's driver, a handle must not be in use
 * while it is destroyed. It may be used just before, and its queued work continues. */
#ifndef NEUTRINO_STRESS_SHARED_H
#define NEUTRINO_STRESS_SHARED_H

#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>

struct shared {
    CUcontext context;
    pthread_rwlock_t captures; /* read: to capture; written: to wait for the context, which invalidates every
                                  stream capture */
    pthread_rwlock_t lock;     /* read: to use them; written: to replace one */
    CUstream streams[SLOTS];
    CUevent events[SLOTS];
    _Atomic unsigned counted;
};

void make_shared(struct shared *shared);
void end_shared(struct shared *shared);

extern const char *const module_text;

#endif
