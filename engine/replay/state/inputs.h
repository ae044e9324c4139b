/* Input sets that replace recorded bytes, and outputs that are poisoned, before each sample. */
#ifndef NEUTRINO_ENGINE_INPUTS_H
#define NEUTRINO_ENGINE_INPUTS_H

#include <stdint.h>

#include "replay/state/inputs_state.h"

struct nb_replay;

/* Check that the input set exists; NB_NOTHING means the recorded inputs. */
int nb_inputs_check(struct nb_replay *replay, uint32_t set) __attribute__((visibility("hidden")));

/* Check that the input set has all memory that the capture lacks. */
int nb_inputs_check_unknown(struct nb_replay *replay, uint32_t set) __attribute__((visibility("hidden")));

/* The next random number. */
uint64_t nb_inputs_noise(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue the inputs of set `inputs` and the poison of all outputs: those in memory for a state set, those in
 * globals for a copy of the code. */
int nb_inputs_write_memory(struct nb_replay *replay, uint32_t inputs, uint32_t set, CUstream stream)
    __attribute__((visibility("hidden")));
int nb_inputs_write_globals(struct nb_replay *replay, uint32_t inputs, uint32_t copy, CUstream stream)
    __attribute__((visibility("hidden")));

void nb_inputs_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
