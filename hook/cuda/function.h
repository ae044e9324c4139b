/* From the handle that a launch names to what is known of its kernel. */
#ifndef NEUTRINO_CUDA_FUNCTION_H
#define NEUTRINO_CUDA_FUNCTION_H

#include <cuda.h>

#include "funcmap.h"
#include "thread.h"

/* The kernel's number and parameter layout; asks the driver at its first launch, so call it before the launch
 * and inside a recorded call. NULL if the record of it found no room. */
const struct nb_description *nb_describe(struct nb_thread *thread, CUfunction function)
    __attribute__((visibility("hidden")));

#endif
