/* Executable graphs as a capture holds them: what each is made of, kept from its instantiation on, and
 * written when it is launched in a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_GRAPH_H
#define NEUTRINO_CUDA_CAPTURE_GRAPH_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* What the driver has accepted. Where nb_region_wanted(); inside a hook. */
void nb_capture_graph_made(const struct nb_call *call, CUgraphExec exec, CUgraph graph, uint64_t flags)
    __attribute__((visibility("hidden")));
void nb_capture_graph_updated(const struct nb_call *call, CUgraphExec exec, CUgraph graph)
    __attribute__((visibility("hidden")));
void nb_capture_graph_kernel(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                             const CUDA_KERNEL_NODE_PARAMS *parameters) __attribute__((visibility("hidden")));
void nb_capture_graph_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *parameters)
    __attribute__((visibility("hidden")));
void nb_capture_graph_set(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));
void nb_capture_graph_child(const struct nb_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
    __attribute__((visibility("hidden")));
void nb_capture_graph_enabled(CUgraphExec exec, CUgraphNode node, bool enabled)
    __attribute__((visibility("hidden")));
void nb_capture_graph_destroyed(CUgraphExec exec) __attribute__((visibility("hidden")));

/* A launch on its way through the driver. */
struct nb_capture_graph_launch {
    bool is_counted;
    uint32_t number; /* of the graph as it is now; 0: nothing is recorded */
    uint32_t flags;  /* enum nb_operation_flag */
};

/* Before the driver is called: count the launch, which may begin or end a region; in an open one, write the
 * graph unless it was written as it is now. */
struct nb_capture_graph_launch nb_capture_graph_before(const struct nb_call *call, CUgraphExec exec,
                                                       CUstream stream) __attribute__((visibility("hidden")));

/* The driver has answered. */
void nb_capture_graph_after(const struct nb_call *call, struct nb_capture_graph_launch launch,
                            CUstream stream, CUresult result) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_graph_component __attribute__((visibility("hidden")));

#endif
