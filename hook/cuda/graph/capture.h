/* Executable graphs in a capture. Each graph is described when it is instantiated, and written when a
 * region launches it. */
#ifndef NEUTRINO_CUDA_CAPTURE_GRAPH_H
#define NEUTRINO_CUDA_CAPTURE_GRAPH_H

#include <cuda.h>

#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Call after the driver has accepted the change. Inside a hook, if nb_capture_enabled(). */
void nb_capture_instantiate_graph(const struct nb_call *call, CUgraphExec exec, CUgraph graph, uint64_t flags)
    __attribute__((visibility("hidden")));
void nb_capture_update_graph(const struct nb_call *call, CUgraphExec exec, CUgraph graph)
    __attribute__((visibility("hidden")));
void nb_capture_change_graph_kernel(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));
void nb_capture_change_graph_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *parameters)
    __attribute__((visibility("hidden")));
void nb_capture_change_graph_memset(CUgraphExec exec, CUgraphNode node,
                                    const CUDA_MEMSET_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));
void nb_capture_change_graph_child(const struct nb_call *call, CUgraphExec exec, CUgraphNode node,
                                   CUgraph child) __attribute__((visibility("hidden")));
void nb_capture_enable_graph_node(CUgraphExec exec, CUgraphNode node, bool enabled)
    __attribute__((visibility("hidden")));
void nb_capture_destroy_graph(CUgraphExec exec) __attribute__((visibility("hidden")));

/* A graph launch that is inside the driver. */
struct nb_capture_graph_launch {
    bool is_counted;
    uint32_t number; /* number of the graph's current version; 0 if the launch is not captured */
    uint32_t flags;  /* enum nb_operation_flag */
};

/* Call before the driver. Counts the launch, which may begin or end a region. In an open region, writes
 * the graph unless its current version is written. */
struct nb_capture_graph_launch nb_capture_begin_graph_launch(const struct nb_call *call, CUgraphExec exec,
                                                             CUstream stream)
    __attribute__((visibility("hidden")));

/* Call after the driver has returned. */
void nb_capture_end_graph_launch(const struct nb_call *call, struct nb_capture_graph_launch launch,
                                 CUstream stream, CUresult result) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_graph_component __attribute__((visibility("hidden")));

#endif
