/* A thread's first driver call: the process finds its session, the thread gets a ring. */
#ifndef NEUTRINO_ATTACH_H
#define NEUTRINO_ATTACH_H

#include <stdbool.h>

#include "core/ring/ring.h"

/* The slow path of nb_call_begin: true if the thread is READY now. Preserves errno. */
bool nb_thread_attach(struct nb_thread *thread) __attribute__((visibility("hidden")));

/* Find the session and open the driver, if no earlier call has: the first call of a passed-through export. */
void nb_process_begin(void) __attribute__((visibility("hidden")));

#endif
