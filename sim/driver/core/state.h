/* Whether the driver may be called at all, and what the environment says. */
#ifndef NEUTRINO_SIM_STATE_H
#define NEUTRINO_SIM_STATE_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUDA_SUCCESS between cuInit and a fork; the child of an initialised process gets
 * CUDA_ERROR_NOT_INITIALIZED for good, as from a GPU's driver. */
CUresult sim_check_initialized(void);

/* What the environment said at cuInit; workers must not read it, for the program may change it meanwhile. */
struct sim_environment {
    uint64_t kernel_timeout_ns; /* 0: none */
    unsigned workers;           /* 0: one a core */
    size_t memory_bytes;
    const char *launch_log;   /* NULL: none */
    bool exact_memory;        /* what a kernel touches is live to the byte; reports of faults */
    bool faults_end_contexts; /* and not the process */
};

/* Valid once initialised. */
const struct sim_environment *sim_environment(void);

/* The CUDA version this driver says it is: SIM_DRIVER_VERSION, else that of the header. */
int sim_driver_version(void);

#endif
