/* Launches of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_LAUNCH_H
#define NEUTRINO_CUDA_CAPTURE_LAUNCH_H

#include <cuda.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "cuda/trace/launch_form.h"

/* A launch on its way through the driver: what is to be recorded of it. */
struct nb_capture_launch;

/* Where nb_region_wanted(), before the driver is called: count it, which may begin or end a region, and keep
 * what the caller gave. NULL for a launch that a stream capture takes. */
struct nb_capture_launch *nb_capture_launch_before(const struct nb_call *call,
                                                   const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* The driver has answered. Frees `kept`. */
void nb_capture_launch_after(const struct nb_call *call, struct nb_capture_launch *kept, CUresult result)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_launch_component __attribute__((visibility("hidden")));

#endif
