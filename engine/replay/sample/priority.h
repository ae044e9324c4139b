/* The eviction priority of lines in the L2 cache. */
#ifndef NEUTRINO_ENGINE_PRIORITY_H
#define NEUTRINO_ENGINE_PRIORITY_H

#include "replay/sample/priority_state.h"

struct nb_replay;

int nb_priority_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue kernels that give captured memory and globals the normal priority, so that reading other memory
 * evicts their lines. Does nothing on devices without cache policies. */
int nb_priority_reset(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_priority_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
