/* What a process may still do while it reads hostile bytes: compute, read, write, end. */
#ifndef NEUTRINO_SANDBOX_H
#define NEUTRINO_SANDBOX_H

#include <stdbool.h>

/* For good, for the calling thread. Whatever else it calls then, it is killed. False where the kernel can do
 * neither of the two below. */
bool nb_sandbox_enter(void) __attribute__((visibility("hidden")));

/* seccomp's strict mode: read, write, exit and sigreturn. Refused where a filter is in force, as in most
 * containers, and by gVisor. */
bool nb_sandbox_strict(void) __attribute__((visibility("hidden")));

/* The same, and exit_group, by a filter. */
bool nb_sandbox_filter(void) __attribute__((visibility("hidden")));

/* Closes every descriptor from `first` on. False if it cannot be sure of that. */
bool nb_sandbox_close_from(int first) __attribute__((visibility("hidden")));

#endif
