/* Whether the driver may be called at all, and what the environment says. */
#ifndef NEUTRINO_SIM_STATE_H
#define NEUTRINO_SIM_STATE_H

#include "api.h"

#include <stdint.h>

/* CUDA_SUCCESS between cuInit and a fork; the child of an initialised process gets
 * CUDA_ERROR_NOT_INITIALIZED for good, as from a GPU's driver. */
CUresult sim_check_initialized(void);

/* An unsigned number from the environment, or `fallback` if it is not set or not a number. */
uint64_t sim_setting(const char *name, uint64_t fallback);

/* The CUDA version this driver says it is: SIM_DRIVER_VERSION, else that of the header. */
int sim_driver_version(void);

#endif
