/* This process in the session: its identity and its process record. */
#ifndef NEUTRINO_PROCESS_H
#define NEUTRINO_PROCESS_H

#include "core/ring/ring.h"

/* Fill in this process's identity: when it attaches, and again in a forked child. */
void nb_process_identify(void) __attribute__((visibility("hidden")));

const struct nb_process_identity *nb_process_identity(void) __attribute__((visibility("hidden")));

/* Write the process record, once per process. */
void nb_process_introduce(struct nb_thread *thread) __attribute__((visibility("hidden")));

/* In a forked child: write a new process record at the next chance. */
void nb_process_forget(void) __attribute__((visibility("hidden")));

#endif
