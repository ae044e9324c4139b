/* Confines a process that reads hostile bytes: it can compute, read, write and exit. */
#ifndef NEUTRINO_SANDBOX_H
#define NEUTRINO_SANDBOX_H

#include <stdbool.h>

/* Confines the calling thread for good: any other system call kills it. False if the kernel refuses both
 * modes below. */
bool nb_sandbox_enter(void) __attribute__((visibility("hidden")));

/* The error line for that case. */
extern const char nb_no_sandbox[] __attribute__((visibility("hidden")));

/* seccomp's strict mode: read, write, exit and sigreturn. Refused under an existing filter (most containers)
 * and by gVisor. */
bool nb_sandbox_strict(void) __attribute__((visibility("hidden")));

/* The same calls and exit_group, by a seccomp filter. */
bool nb_sandbox_filter(void) __attribute__((visibility("hidden")));

/* Closes every descriptor from `first` on. False if some may still be open. */
bool nb_sandbox_close_from(int first) __attribute__((visibility("hidden")));

#endif
