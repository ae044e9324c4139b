/* Green contexts: a share of the multiprocessors, used as a context. */
#ifndef NEUTRINO_SIM_GREEN_H
#define NEUTRINO_SIM_GREEN_H

#include "driver/context/context.h"
#include "driver/core/api.h"

#if CUDA_VERSION >= 12040

struct sim_green {
    struct sim_object object;
    struct sim_context *context; /* owned reference */
    CUdevResource resource;
};

#endif

#endif
