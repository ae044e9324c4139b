/* A launch in the shape that all forms share. */
#ifndef NEUTRINO_CUDA_LAUNCH_H
#define NEUTRINO_CUDA_LAUNCH_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"

struct nb_launch_form {
    CUfunction function;
    unsigned int grid[3], block[3];
    unsigned int shared_bytes;
    CUstream stream;
    const CUlaunchAttribute *attributes;
    unsigned int attribute_count;
    uint32_t flags; /* enum nb_launch_flag */
    void **kernelParams, **extra;
    const char *unreplayable; /* why no capture can hold it; else NULL */
};

/* capture_launch.c. A launch on its way through the driver: what is to be recorded of it. */
struct nb_capture_launch;

/* Where nb_region_wanted(), before the driver is called: count it, which may begin or end a region, and keep
 * what the caller gave. NULL for a launch that a stream capture takes. */
struct nb_capture_launch *nb_capture_launch_before(const struct nb_call *call,
                                                   const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* The driver has answered. Frees `kept`. */
void nb_capture_launch_after(const struct nb_call *call, struct nb_capture_launch *kept, CUresult result)
    __attribute__((visibility("hidden")));

#endif
