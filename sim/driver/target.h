/* Whether the device's compiler would take a PTX text at all. */
#ifndef NEUTRINO_SIM_TARGET_H
#define NEUTRINO_SIM_TARGET_H

#include "api.h"

#include <stddef.h>

/* Look at `.version` and `.target` only; a text that lacks one is left to the parser. On failure `reason`
 * gets a literal, in ptxas' words: CUDA_ERROR_UNSUPPORTED_PTX_VERSION for a version newer than the driver,
 * CUDA_ERROR_INVALID_PTX for a target that is unknown, newer than the version or than the device, or made for
 * another device alone. */
CUresult sim_target_check(const char *text, size_t bytes, const char **reason);

#endif
