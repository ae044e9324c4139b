/* Recorded code, loaded again: modules, kernels, variables.
 *
 * All of it exists in `copy_count` copies: one, or several for a cold instruction cache. */
#ifndef NEUTRINO_ENGINE_CODE_H
#define NEUTRINO_ENGINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/code_state.h"

struct nb_replay;

int nb_code_load(struct nb_replay *replay, uint32_t copy_count) __attribute__((visibility("hidden")));

/* Write the settings of a kernel that others share a function with. */
int nb_code_apply_settings(struct nb_replay *replay, CUfunction function, uint32_t kernel)
    __attribute__((visibility("hidden")));

void nb_code_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Room for the variables' content in the shadow, and that content. */
int nb_variables_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_variables_upload(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue what gives the variables of a copy their recorded content. */
int nb_variables_restore(struct nb_replay *replay, uint32_t copy, CUstream stream)
    __attribute__((visibility("hidden")));

/* Where `bytes` at a recorded address are in a copy's variable; 0 if no variable has them. */
CUdeviceptr nb_variables_at(const struct nb_replay *replay, uint32_t copy, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

#endif
