/* How the CUDA driver and HIP differ. Defined in hook/<vendor>/vendor.c. */
#ifndef NEUTRINO_CUDA_VENDOR_H
#define NEUTRINO_CUDA_VENDOR_H

#include <cuda.h>

#include "core/process/component.h"

/* Why a replay cannot make a stream like this one, for what only that vendor has; else NULL. */
const char *nb_vendor_stream_refused(CUstream stream) __attribute__((visibility("hidden")));

/* What only this vendor's hooks keep; ends with NULL. */
extern const struct nb_component *const nb_vendor_components[] __attribute__((visibility("hidden")));

#endif
