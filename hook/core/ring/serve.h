/* The session of a process that runs under `neutrino-bench serve`. */
#ifndef NEUTRINO_SERVE_H
#define NEUTRINO_SERVE_H

#include <stddef.h>

/* Ask the service at the Unix socket `path` for a session. Returns the descriptor of its memory, or -1 with
 * the reason in `why`, a buffer of `size` bytes. */
int nb_serve_ask(const char *path, char *why, size_t size) __attribute__((visibility("hidden")));

#endif
