/* Recorded code, loaded again: modules, kernels, variables.
 *
 * All of it exists in `copy_count` copies: one, or several for a cold instruction cache. */
#ifndef NEUTRINO_ENGINE_CODE_H
#define NEUTRINO_ENGINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_replay;

/* One of the two handles, as the recorded program had it. */
struct nb_code_module {
    CUmodule module;
    CUlibrary library;
};

struct nb_code_kernel {
    CUfunction function;
    bool shared; /* another kernel is the same function with other settings: set them before each launch */
};

struct nb_code_variable {
    CUdeviceptr address;
    uint64_t shadow; /* where its content is in the shadow */
};

/* Everything of one copy. */
struct nb_code_copy {
    struct nb_code_module *modules;
    struct nb_code_kernel *kernels;
    struct nb_code_variable *variables;
};

struct nb_code {
    struct nb_code_copy *copies;
    uint32_t copy_count;
    uint32_t current; /* the copy that ran last */
    uint32_t *sorted; /* variables by their recorded address */
};

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
