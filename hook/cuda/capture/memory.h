/* Writes the content of device memory. */
#ifndef NEUTRINO_CUDA_CAPTURE_MEMORY_H
#define NEUTRINO_CUDA_CAPTURE_MEMORY_H

#include <cuda.h>

#include "core/wire/capture_format.h"

/* Append elements of `kind` for all allocated pages: of NB_CAPTURE_BEFORE those that are not zero, of
 * NB_CAPTURE_AFTER those that differ since. The device must be idle. */
CUresult nb_capture_write_memory(enum nb_capture_kind kind) __attribute__((visibility("hidden")));

#endif
