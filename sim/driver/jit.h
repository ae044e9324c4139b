/* The JIT options that matter here: the log buffers. */
#ifndef NEUTRINO_SIM_JIT_H
#define NEUTRINO_SIM_JIT_H

#include "api.h"

#include <stddef.h>

struct sim_jit_log {
    char *error;
    size_t error_bytes;
    void **error_size; /* option value that gets the bytes written; NULL: none */
    void **info_size;
    void **wall_time;
};

/* CUDA_ERROR_INVALID_VALUE for an option that does not exist or needs a value and has none. */
CUresult sim_jit_options(struct sim_jit_log *log, unsigned count, const CUjit_option *options, void **values);

/* Write `text` to the error log, cut to fit, and set the sizes. `text` may be NULL: there were no errors. */
void sim_jit_report(const struct sim_jit_log *log, const char *text);

#endif
