/* Initialization state and settings from the environment. */
#ifndef NEUTRINO_SIM_STATE_H
#define NEUTRINO_SIM_STATE_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUDA_SUCCESS from cuInit on. A child forked after cuInit gets CUDA_ERROR_NOT_INITIALIZED from every call,
 * as from a GPU's driver. */
CUresult sim_check_initialized(void);

/* Whether this process was forked from an initialized one. */
bool sim_is_forked(void);

/* The last step of cuInit. */
CUresult sim_set_initialized(void);

/* Settings from the environment, read by cuInit. Worker threads must not call getenv, because the program
 * may change the environment. */
struct sim_environment {
    uint64_t kernel_timeout_ns; /* 0: no timeout */
    unsigned workers;           /* 0: one per core */
    size_t memory_bytes;
    const char *launch_log;   /* NULL: no log */
    const char *counts;       /* a file for executed instructions; NULL: none */
    bool exact_memory;        /* check kernel accesses to the byte, and report faults */
    bool faults_end_contexts; /* a fault ends its context only, not the process */
    bool unsupported_at_load; /* an unsupported instruction fails the load, not the launch of its kernel */
};

/* CUDA_ERROR_INVALID_VALUE, with a line on stderr, if a variable has an unknown value. */
CUresult sim_environment_read(void);

/* Valid after sim_environment_read. */
const struct sim_environment *sim_environment(void);

/* The reported CUDA version: SIM_DRIVER_VERSION, or that of the header. */
int sim_driver_version(void);

#endif
