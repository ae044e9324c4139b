/* State and caches before a sample: restored, and as cold as was asked for. */
#ifndef NEUTRINO_ENGINE_COLD_H
#define NEUTRINO_ENGINE_COLD_H

#include <stdint.h>

#include "replay/sample/cold_state.h"

struct nb_replay;

/* How many physical sets the mode wants, and how much scratch memory twice. */
uint32_t nb_cold_sets(struct nb_replay *replay) __attribute__((visibility("hidden")));
uint64_t nb_cold_scratch_bytes(const struct nb_replay *replay) __attribute__((visibility("hidden")));

int nb_cold_build(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Map the first set, and queue what gives it and a copy of the code their state, inputs and poison, caches as
 * they are: for a run that is no sample. */
int nb_cold_restore(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
    __attribute__((visibility("hidden")));

/* Make ready for a sample on these inputs. Returns with the device idle, and what is guarded unmapped. */
int nb_cold_make_ready(struct nb_replay *replay, uint32_t copy, uint32_t inputs)
    __attribute__((visibility("hidden")));

/* Queue what leaves the caches as the mode wants them: right before a sample, whose device is busy then. */
int nb_cold_chill(struct nb_replay *replay) __attribute__((visibility("hidden")));

void nb_cold_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
