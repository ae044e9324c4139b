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

/* A launch that is being made: of `function`, with `parameters` or `extra`. The hook puts the driver's answer
 * into `result`, and launches the original if it is an error. */
struct nb_probed_launch {
    CUfunction function;
    void **parameters;
    void **extra;
    uint32_t flag; /* NB_LAUNCH_PROBED or NB_LAUNCH_PRUNED */
    CUresult result;
};

/* NULL: launch the original. Call it before nb_launch_begin, because it writes records. */
struct nb_probed_launch *nb_probe_begin(const struct nb_call *call, const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* Call it after nb_launch_end. `result` is what the program gets. */
void nb_probe_end(const struct nb_call *call, struct nb_probed_launch *launch, CUresult result)
    __attribute__((visibility("hidden")));

/* A kernel of an executable graph. NULL: the graph runs the original. Inside a hook. */
struct nb_probed_launch *nb_probe_make_node(const struct nb_call *call, const struct nb_launch_form *launch)
    __attribute__((visibility("hidden")));

/* A launch of the graph: queue the first content of the node's maps before it, and their copy behind it.
 * NULL: they are not collected. */
struct nb_probed_launch *nb_probe_begin_node(const struct nb_call *call, const struct nb_probed_launch *node,
                                             CUstream stream) __attribute__((visibility("hidden")));
void nb_probe_end_node(const struct nb_call *call, struct nb_probed_launch *launch, CUresult result)
    __attribute__((visibility("hidden")));

enum nb_probe_end {
    NB_PROBE_IDLE, /* the device does not use its maps */
    NB_PROBE_BUSY, /* it may: their memory is not used again */
    NB_PROBE_GONE  /* the context is gone, and the memory with it */
};
void nb_probe_free_node(struct nb_probed_launch *node, enum nb_probe_end how)
    __attribute__((visibility("hidden")));

/* Hand over the maps that are on the host. */
void nb_probe_collect(const struct nb_call *call) __attribute__((visibility("hidden")));

/* Wait for the launches of a context (NULL: of all) and hand over their maps, before the context ends and the
 * maps with it. A kernel that does not end holds the program up for 10 seconds. */
void nb_probe_collect_all(const struct nb_call *call, CUcontext context)
    __attribute__((visibility("hidden")));

/* Drop the launches of a context that is gone (NULL: of all): the driver may give its handle and its
 * addresses out again. */
void nb_probe_forget_launches(const struct nb_call *call, CUcontext context)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_launch_component __attribute__((visibility("hidden")));

#endif
