/* The first directives of a PTX text: whether the text is PTX, and whether this device can compile it. */
#ifndef NEUTRINO_SIM_HEADER_H
#define NEUTRINO_SIM_HEADER_H

#include "driver/code/jit.h"
#include "driver/core/api.h"

/* Whether .version comes first, after blanks and comments. A driver uses the same test (580.159). */
bool sim_header_is_ptx(const char *text, size_t bytes);

/* CUDA_ERROR_UNSUPPORTED_PTX_VERSION for a .version newer than the driver's. CUDA_ERROR_INVALID_PTX if the
 * directives are missing or .target is above the compilation target. The error log has the reason. */
CUresult sim_header_check(const char *text, size_t bytes, struct sim_jit *jit);

#endif
