/* The shape of a launch as the driver's struct. */
#ifndef NEUTRINO_SIM_RUNTIME_LAUNCH_CONFIG_H
#define NEUTRINO_SIM_RUNTIME_LAUNCH_CONFIG_H

#include "runtime/cudart.h"

#include <limits.h>

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value),
               "attributes are passed on unchanged");

static inline CUlaunchConfig launch_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = config->dynamicSmemBytes > UINT_MAX ? UINT_MAX : (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)(void *)config->attrs,
        .numAttrs = config->numAttrs};
}

#endif
