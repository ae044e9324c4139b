/* Restores the state before a sample, and makes caches cold. */
#ifndef NEUTRINO_ENGINE_COLD_H
#define NEUTRINO_ENGINE_COLD_H

#include <stdint.h>

#include "replay/sample/cold_state.h"

struct nb_replay;

/* Number of physical sets for the mode, and bytes of each half of the scratch memory. */
uint32_t nb_cold_sets(struct nb_replay *replay) __attribute__((visibility("hidden")));
uint64_t nb_cold_scratch_bytes(const struct nb_replay *replay) __attribute__((visibility("hidden")));

int nb_cold_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Map the first set, and queue the state, inputs and poison for it and a copy of the code. Leaves the caches
 * alone: for runs that are not samples. */
int nb_cold_restore(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
    __attribute__((visibility("hidden")));

/* Prepare a sample on these inputs. Returns with the device idle and guarded memory unmapped. */
int nb_cold_make_ready(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
    __attribute__((visibility("hidden")));

/* Queue kernels that make the caches cold in the chosen mode, and fill shared memory: directly before a
 * sample. */
int nb_cold_chill(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_cold_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
