/* What the driver says of a graph: its nodes, their parameters, their edges. Inside a hook. */
#ifndef NEUTRINO_CUDA_GRAPH_NODE_H
#define NEUTRINO_CUDA_GRAPH_NODE_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>

/* Child graphs nest; a graph made of itself does not exist, so this only bounds the stack. */
#define NB_GRAPH_DEPTH_MAX 16

/* In malloced memory; NULL with `*count` 0 for a graph without nodes, NULL with another count if the driver
 * does not say or there is no memory. */
CUgraphNode *nb_graph_nodes(CUgraph graph, size_t *count) __attribute__((visibility("hidden")));

/* CUDA 12's parameters where the driver has them: the older ones lack `kern`. */
CUresult nb_graph_kernel_parameters(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));

struct nb_graph_edges {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data; /* zeros where the driver is older than edges with data */
    size_t count;
};

/* False if the driver does not say, or without memory. To be freed by nb_graph_edges_free either way. */
bool nb_graph_edges(CUgraph graph, struct nb_graph_edges *edges) __attribute__((visibility("hidden")));
void nb_graph_edges_free(struct nb_graph_edges *edges) __attribute__((visibility("hidden")));

#endif
