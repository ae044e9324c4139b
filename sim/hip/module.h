/* The PTX of modules and linked-in code. */
#ifndef NEUTRINO_SIM_HIP_MODULE_H
#define NEUTRINO_SIM_HIP_MODULE_H

#include "hip/code.h"
#include "hip/hip.h"

/* Returns the PTX in an image; the caller frees it. On failure it prints the reason in one line to stderr. */
CUresult hip_image_text(const void *image, size_t bytes, struct hip_text *text);

#endif
