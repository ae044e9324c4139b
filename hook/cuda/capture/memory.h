/* Writes the content of device memory. */
#ifndef NEUTRINO_CUDA_CAPTURE_MEMORY_H
#define NEUTRINO_CUDA_CAPTURE_MEMORY_H

#include <cuda.h>

#include "core/wire/capture_format.h"

/* Append elements of `kind` (NB_CAPTURE_BEFORE or _AFTER) for all allocated pages that are not zero. The
 * device must be idle. */
CUresult nb_capture_write_memory(enum nb_capture_kind kind) __attribute__((visibility("hidden")));

#endif
