/* Differences between the CUDA driver and HIP, defined for each vendor. */
#ifndef NEUTRINO_CUDA_VENDOR_H
#define NEUTRINO_CUDA_VENDOR_H

#include <cuda.h>

#include "core/process/component.h"

/* Return why a replay cannot make a stream like this one, for a feature that only this vendor has; else
 * NULL. */
const char *nb_vendor_stream_problem(CUstream stream) __attribute__((visibility("hidden")));

/* Components of this vendor's hooks; ends with NULL. */
extern const struct nb_component *const nb_vendor_components[] __attribute__((visibility("hidden")));

#endif
