/* The content of device memory, written to the recording. */
#ifndef NEUTRINO_CUDA_CAPTURE_MEMORY_H
#define NEUTRINO_CUDA_CAPTURE_MEMORY_H

#include <cuda.h>

#include "core/wire/capture_format.h"

/* Append elements of `kind` (NB_CAPTURE_BEFORE or _AFTER) for every page that is not zero of what is
 * allocated now. The device is idle. */
CUresult nb_capture_memory(enum nb_capture_kind kind) __attribute__((visibility("hidden")));

#endif
