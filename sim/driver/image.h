/* Code images as programs hand them over: PTX text, or a fat binary that holds some. */
#ifndef NEUTRINO_SIM_IMAGE_H
#define NEUTRINO_SIM_IMAGE_H

#include "api.h"

#include <stddef.h>

/* The PTX in an image, not NUL-terminated, and its size. On failure `reason` gets a literal in words:
 * CUDA_ERROR_NO_BINARY_FOR_GPU for machine code only, CUDA_ERROR_NOT_SUPPORTED for compressed PTX,
 * CUDA_ERROR_INVALID_IMAGE for anything else. */
CUresult sim_image_text(const void *image, const char **text, size_t *bytes, const char **reason);

/* A whole file, NUL-terminated; to be freed. */
CUresult sim_image_read(const char *path, void **image);

#endif
