#ifndef NEUTRINO_SIM_HINT_H
#define NEUTRINO_SIM_HINT_H

#include "driver/core/api.h"

#include <stddef.h>
#include <stdint.h>

/* The pages of a range of managed memory. CUDA_ERROR_INVALID_VALUE for other memory. */
CUresult sim_hint_range(CUdeviceptr address, size_t bytes, uint64_t *begin, uint64_t *end);

/* Check and store a prefetch. */
CUresult sim_hint_prefetch(CUdeviceptr address, size_t bytes, CUmemLocation location);

/* Check a location without a prefetch. */
CUresult sim_hint_check_location(CUmemLocation location);

#endif
