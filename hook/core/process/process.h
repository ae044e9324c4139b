/* This process in the session: found out once, forgotten and found out again in a forked child. */
#ifndef NEUTRINO_PROCESS_H
#define NEUTRINO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ring/ring.h"

struct nb_process_identity {
    uint32_t process;
    uint32_t parent;
    uint64_t started;       /* clock ticks after boot, /proc/self/stat field 22 */
    uint64_t pid_namespace; /* inode */
    uint64_t first_tsc;
    uint64_t first_ns;
};

/* Open the session and the driver. False, now and later, if nobody is there to record for. */
bool nb_process_attach(void) __attribute__((visibility("hidden")));

const struct nb_process_identity *nb_process_identity(void) __attribute__((visibility("hidden")));

/* Write the process record, once a process. */
void nb_process_introduce(struct nb_thread *thread) __attribute__((visibility("hidden")));

/* Have the calling thread's ring closed when the thread ends. */
void nb_process_remember_thread(void) __attribute__((visibility("hidden")));

/* Let go of the ring; `still_ours` is false in a forked child, where it is the parent's. */
void nb_thread_detach(struct nb_thread *thread, bool still_ours) __attribute__((visibility("hidden")));

#endif
