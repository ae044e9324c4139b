/* The part of struct nb_replay that belongs to inputs.h. */
#ifndef NEUTRINO_ENGINE_INPUTS_STATE_H
#define NEUTRINO_ENGINE_INPUTS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_input {
    uint32_t set;
    uint64_t address;
    uint64_t bytes;
    CUdeviceptr content; /* in the vault; 0: it has no memory there */
    bool zeros;          /* the content is zeros, and needs no memory */
};

struct nb_output {
    uint64_t address;
    uint64_t bytes;
};

enum { NB_INPUT_SETS_MAX = 1 << 16 };

struct nb_inputs {
    struct nb_input *inputs;
    uint32_t count, room;
    uint32_t set_count;                     /* one more than the greatest number of a set */
    bool one_set;                           /* there is room for one set at a time */
    uint8_t is_complete[NB_INPUT_SETS_MAX]; /* the set has all memory that the capture lacks */
    struct nb_output *outputs;
    uint32_t output_count, output_room;
    uint8_t trial;         /* the poison while in_place.c looks for in-place outputs; otherwise 0 */
    uint32_t trial_output; /* the only output that is poisoned then; NB_NOTHING: all */
    uint64_t noise;        /* state of the poison's generator */
};

#endif
