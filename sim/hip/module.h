/* Images of modules and of linked-in code: their PTX, and what went wrong. */
#ifndef NEUTRINO_SIM_HIP_MODULE_H
#define NEUTRINO_SIM_HIP_MODULE_H

#include "hip/code.h"
#include "hip/hip.h"

/* The PTX in an image; to be freed. On failure one line on stderr says why. */
CUresult hip_image_text(const void *image, size_t bytes, struct hip_text *text);

#endif
