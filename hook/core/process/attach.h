/* A thread's first driver call: the process finds its session, the thread gets a ring. */
#ifndef NEUTRINO_ATTACH_H
#define NEUTRINO_ATTACH_H

#include <stdbool.h>

#include "core/ring/ring.h"

/* Find this process's session before its first driver call of any kind. Without a supervisor, say so on
 * standard error, and refuse all driver calls if NEUTRINO_REQUIRE is set. Preserves errno. */
void nb_process_attach(void) __attribute__((visibility("hidden")));

/* The slow path of nb_call_begin: true if the thread is READY now. Preserves errno. */
bool nb_thread_attach(struct nb_thread *thread) __attribute__((visibility("hidden")));

#endif
