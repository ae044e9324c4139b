/* What the caller puts in place of recorded bytes before a sample, and what it wants to have written by one.
 */
#ifndef NEUTRINO_ENGINE_INPUTS_H
#define NEUTRINO_ENGINE_INPUTS_H

#include <stdint.h>

#include "replay/base/driver.h"

struct nb_replay;

struct nb_input {
    uint32_t set;
    uint64_t address;
    uint64_t bytes;
    CUdeviceptr content; /* in the vault */
};

struct nb_output {
    uint64_t address;
    uint64_t bytes;
};

enum { NB_INPUT_SETS_MAX = 1 << 16 };

struct nb_inputs {
    struct nb_input *inputs;
    uint32_t count, room;
    uint32_t set_count; /* one more than the greatest number given */
    struct nb_output *outputs;
    uint32_t output_count, output_room;
    uint64_t noise; /* state of the generator that draws poison */
};

/* Whether there is such a set; NB_NOTHING is the recorded inputs. */
int nb_inputs_check(struct nb_replay *replay, uint32_t set) __attribute__((visibility("hidden")));

/* Another number each time. */
uint64_t nb_inputs_noise(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue the inputs of `inputs` and the poison of all outputs: those in memory into a state set, those in
 * variables into a copy of the code. */
int nb_inputs_write_memory(struct nb_replay *replay, uint32_t inputs, uint32_t set, CUstream stream)
    __attribute__((visibility("hidden")));
int nb_inputs_write_variables(struct nb_replay *replay, uint32_t inputs, uint32_t copy, CUstream stream)
    __attribute__((visibility("hidden")));

void nb_inputs_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
