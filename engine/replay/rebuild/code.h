/* Recorded code, loaded again: modules, kernels, globals.
 *
 * There are `copy_count` copies of it all: one, or several for a cold instruction cache. */
#ifndef NEUTRINO_ENGINE_CODE_H
#define NEUTRINO_ENGINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/code_state.h"

struct nb_replay;

int nb_code_load(struct nb_replay *replay, uint32_t copy_count) __attribute__((visibility("hidden")));

/* Set the attributes of a kernel that shares its function with another kernel. */
int nb_code_apply_settings(struct nb_replay *replay, CUfunction function, uint32_t kernel)
    __attribute__((visibility("hidden")));

void nb_code_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Find a global of a loaded module. */
CUresult nb_code_find_global(struct nb_replay *replay, const struct nb_code_module *module, const char *name,
                             CUdeviceptr *address, size_t *bytes) __attribute__((visibility("hidden")));

/* Find the globals of a copy's images that the capture does not list, and check that the captured globals are
 * separate memory at their addresses here. */
int nb_unlisted_find(struct nb_replay *replay, struct nb_code_copy *copy)
    __attribute__((visibility("hidden")));

/* Plan room for the content of unlisted globals in the shadow, from `end` on; returns the new end. */
uint64_t nb_unlisted_plan(struct nb_replay *replay, uint64_t end) __attribute__((visibility("hidden")));

/* Queue copies that keep the content of unlisted globals, before any kernel of the capture runs, and that
 * restore it. */
int nb_unlisted_keep(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_unlisted_restore(struct nb_replay *replay, uint32_t copy, CUstream stream)
    __attribute__((visibility("hidden")));

/* Plan room for the globals' content in the shadow, and fill it. */
int nb_globals_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_globals_upload(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Queue copies that restore the recorded content of the globals of a copy of the code. */
int nb_globals_restore(struct nb_replay *replay, uint32_t copy, CUstream stream)
    __attribute__((visibility("hidden")));

/* Address of `bytes` at a recorded address in a copy's global; 0 if no global holds them. */
CUdeviceptr nb_globals_at(const struct nb_replay *replay, uint32_t copy, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

#endif
