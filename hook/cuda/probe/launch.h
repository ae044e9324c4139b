/* Launches of probed kernels, and the way of their maps to the supervisor.
 *
 * No launch waits for its maps: they are copied to the host on the launch's stream, and collected when the
 * copy has ended, at a later launch, at a call that waits for the device, or when the process exits. */
#ifndef NEUTRINO_CUDA_PROBE_LAUNCH_H
#define NEUTRINO_CUDA_PROBE_LAUNCH_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "cuda/trace/launch_form.h"

/* A launch that is being made: of `function`, with `parameters`. The hook puts the driver's answer into
 * `result`, and launches the original if it is an error. */
struct nb_probed_launch {
    CUfunction function;
    void **parameters;
    CUresult result;
};

/* NULL: launch the original. Call it before nb_launch_begin, because it writes records. */
struct nb_probed_launch *nb_probe_begin(const struct nb_call *call, const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* Call it after nb_launch_end. */
void nb_probe_end(const struct nb_call *call, struct nb_probed_launch *launch)
    __attribute__((visibility("hidden")));

/* Hand over the maps that are on the host. */
void nb_probe_collect(const struct nb_call *call) __attribute__((visibility("hidden")));

/* Wait for the launches of a context (NULL: of all) and hand over their maps, before the context ends and the
 * maps with it. A kernel that does not end holds the program up for 10 seconds. */
void nb_probe_collect_all(const struct nb_call *call, CUcontext context)
    __attribute__((visibility("hidden")));

/* A context was destroyed (0: every context may have been): drop its kernels and its memory for maps. */
void nb_probe_forget_context(const struct nb_call *call, uint64_t context)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_launch_component __attribute__((visibility("hidden")));

#endif
