#ifndef NEUTRINO_SIM_RESOURCE_H
#define NEUTRINO_SIM_RESOURCE_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#if CUDA_VERSION >= 12040

/* A description for cuGreenCtxCreate. Never freed: no call ends it. */
struct sim_description {
    struct sim_object object;
    unsigned multiprocessors;
};

/* A resource whose multiprocessors can be split. */
void sim_resource_fill(CUdevResource *resource, unsigned multiprocessors);

#endif

#endif
