/* The supervisor's shared memory, found once, at the first traced driver call. */
#ifndef NEUTRINO_SESSION_H
#define NEUTRINO_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/record.h"

/* Map the session of `neutrino-bench serve` (NEUTRINO_SERVE), or that of a wrapper (NEUTRINO_RING). Without
 * a valid session, write one line to standard error and return false. */
bool nb_session_open(void) __attribute__((visibility("hidden")));

/* Do all processes of a command write to this session? If not, it is this process's alone. */
bool nb_session_is_shared(void) __attribute__((visibility("hidden")));

/* Unmap the session in a forked child. */
void nb_session_close(void) __attribute__((visibility("hidden")));

/* The mapped header; NULL without a session. */
struct nb_session *nb_session(void) __attribute__((visibility("hidden")));

/* Return ring `index`: its header page, followed by its data. */
struct nb_ring *nb_session_ring(uint32_t index) __attribute__((visibility("hidden")));

/* Is the image store mapped? If the address space is limited (ulimit -v), only the rings are. */
bool nb_session_has_images(void) __attribute__((visibility("hidden")));

/* Copy an image into the image store. Returns its position there, or UINT64_MAX if it does not fit. */
uint64_t nb_session_store_image(const void *image, uint64_t bytes) __attribute__((visibility("hidden")));

#endif
