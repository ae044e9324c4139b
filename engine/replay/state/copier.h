/* Copies in host memory by several threads: one thread copies slower than a device sends. */
#ifndef NEUTRINO_ENGINE_COPIER_H
#define NEUTRINO_ENGINE_COPIER_H

#include <stddef.h>

#include "replay/state/copier_state.h"

/* How many helpers suit this machine: none if it has few processors. */
uint32_t nb_copier_wished(void) __attribute__((visibility("hidden")));

/* Start up to NB_COPIER_HELPERS threads. The copier also works without those that cannot start. */
void nb_copier_open(struct nb_copier *copier, uint32_t helpers) __attribute__((visibility("hidden")));

/* memcpy. Only one thread may call it. */
void nb_copier_copy(struct nb_copier *copier, void *to, const void *from, size_t bytes)
    __attribute__((visibility("hidden")));

/* End the helpers. Does nothing to a copier that was never opened. */
void nb_copier_close(struct nb_copier *copier) __attribute__((visibility("hidden")));

#endif
