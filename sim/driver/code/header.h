/* The first lines of a PTX text: whether it is one, and whether this device can compile it. */
#ifndef NEUTRINO_SIM_HEADER_H
#define NEUTRINO_SIM_HEADER_H

#include "driver/core/api.h"
#include "driver/code/jit.h"

/* A driver takes for PTX what has .version behind blanks and comments, and nothing else (seen with 580.159).
 */
bool sim_header_is_ptx(const char *text, size_t bytes);

/* CUDA_ERROR_UNSUPPORTED_PTX_VERSION for a .version newer than the driver's; CUDA_ERROR_INVALID_PTX where the
 * directives are missing or .target is above what is compiled for. The error log says which. */
CUresult sim_header_check(const char *text, size_t bytes, struct sim_jit *jit);

#endif
