/* Launches of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_LAUNCH_H
#define NEUTRINO_CUDA_CAPTURE_LAUNCH_H

#include <cuda.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "cuda/trace/launch_form.h"

/* The kept data of a launch that is inside the driver. */
struct nb_capture_launch;

/* Call before the driver, if nb_capture_enabled(). Counts the launch, which may begin or end a region, and
 * copies the caller's arguments. Returns NULL for a launch that stream capture takes. */
struct nb_capture_launch *nb_capture_begin_launch(const struct nb_call *call,
                                                  const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* Call after the driver has returned. Frees `launch_copy`. */
void nb_capture_end_launch(const struct nb_call *call, struct nb_capture_launch *launch_copy, CUresult result)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_launch_component __attribute__((visibility("hidden")));

#endif
