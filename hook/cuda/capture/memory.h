/* Writes the content of device memory. */
#ifndef NEUTRINO_CUDA_CAPTURE_MEMORY_H
#define NEUTRINO_CUDA_CAPTURE_MEMORY_H

#include <cuda.h>

#include <stdbool.h>

#include "core/wire/capture_format.h"

/* Append elements for all allocated pages but those of given memory (nb_region_is_given): NB_CAPTURE_BEFORE
 * for those that are not zero, NB_CAPTURE_AFTER for those that differ since. `stores_after`: the region will
 * also write NB_CAPTURE_AFTER. The device must be idle. */
CUresult nb_capture_write_memory_before(bool stores_after) __attribute__((visibility("hidden")));
CUresult nb_capture_write_memory_after(void) __attribute__((visibility("hidden")));

#endif
