/* Code images as programs pass them: PTX text, or a fat binary that contains PTX. */
#ifndef NEUTRINO_SIM_IMAGE_H
#define NEUTRINO_SIM_IMAGE_H

#include "driver/code/fatbin.h"
#include "driver/code/jit.h"
#include "driver/core/api.h"

#include <stddef.h>

/* An image in the program's memory, whose size only the image itself tells. */
#define SIM_IMAGE_UNSIZED SIZE_MAX

/* Find the PTX in an image and check its first directives. Free it with sim_image_release. On failure the
 * error log has the reason: CUDA_ERROR_INVALID_IMAGE            an unknown format, or an inconsistent fat
 * binary CUDA_ERROR_NO_BINARY_FOR_GPU        machine code only, or PTX for newer devices only
 *   CUDA_ERROR_NOT_SUPPORTED            compressed PTX, and the decompression library is missing
 *   CUDA_ERROR_UNKNOWN                  compressed PTX that is damaged
 *   CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_INVALID_PTX   see sim_header_check
 * Follows a struct of pointers to fat binaries (__fatBinC_Wrapper_t) only if the image is UNSIZED: pointers
 * in a file are invalid. */
CUresult sim_image_text(const void *image, size_t bytes, struct sim_jit *jit, struct sim_text *text);
void sim_image_release(struct sim_text *text);

/* Read a whole file. The result ends with a NUL, which `bytes` does not count, and is to be freed. */
CUresult sim_image_read(const char *path, void **image, size_t *bytes);

#endif
