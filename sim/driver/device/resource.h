#ifndef NEUTRINO_SIM_RESOURCE_H
#define NEUTRINO_SIM_RESOURCE_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#if CUDA_VERSION >= 12040

/* What a green context is made of. Lives as long as the process: there is no call that ends it. */
struct sim_description {
    struct sim_object object;
    unsigned multiprocessors;
};

/* Multiprocessors that may be split. */
void sim_resource_fill(CUdevResource *resource, unsigned multiprocessors);

#endif

#endif
