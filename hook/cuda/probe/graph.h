/* Probes the kernels of executable graphs: at instantiation they are replaced, at each launch their maps are
 * collected. */
#ifndef NEUTRINO_CUDA_PROBE_GRAPH_H
#define NEUTRINO_CUDA_PROBE_GRAPH_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/process/call.h"
#include "core/process/component.h"

/* Does a probe follow the kernels of a graph that is instantiated with these flags? */
bool nb_probes_graphs(uint64_t flags) __attribute__((visibility("hidden")));

/* The program added a conditional node: no call of CUDA 13.0 lists the graphs in it later. */
void nb_probe_conditional_added(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));

/* A graph was instantiated. Inside a hook. */
void nb_probe_instantiated(const struct nb_call *call, CUgraphExec exec, CUgraph graph, uint64_t flags)
    __attribute__((visibility("hidden")));

/* The program changed a node (NULL: any) of an executable graph: the node runs what the program wants. */
void nb_probe_graph_changed(CUgraphExec exec, CUgraphNode node) __attribute__((visibility("hidden")));
/* The program gave a node of an executable graph another child graph. Inside a hook. */
void nb_probe_child_changed(const struct nb_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
    __attribute__((visibility("hidden")));
void nb_probe_graph_destroyed(CUgraphExec exec) __attribute__((visibility("hidden")));

/* A launch of a graph that is being made; NULL: nothing of it is collected. */
struct nb_probed_graph;
struct nb_probed_graph *nb_probe_graph_begin(const struct nb_call *call, CUgraphExec exec, CUstream stream)
    __attribute__((visibility("hidden")));
void nb_probe_graph_end(const struct nb_call *call, struct nb_probed_graph *graph, CUstream stream,
                        CUresult result) __attribute__((visibility("hidden")));

/* A context was destroyed (0: every context may have been): drop its kernels and its memory for maps. */
void nb_probe_forget_context(const struct nb_call *call, uint64_t context)
    __attribute__((visibility("hidden")));

extern const struct nb_component nb_probe_graph_component __attribute__((visibility("hidden")));

#endif
