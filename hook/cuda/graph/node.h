/* Queries a graph's nodes, their parameters and their edges. Inside a hook. */
#ifndef NEUTRINO_CUDA_GRAPH_NODE_H
#define NEUTRINO_CUDA_GRAPH_NODE_H

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>

/* Child graphs nest. No graph contains itself, so this limit only bounds the stack. */
#define NB_GRAPH_DEPTH_MAX 16

/* Returns malloced memory. NULL with `*count` 0 for a graph without nodes; NULL with another count if the
 * driver does not list the nodes or memory runs out. */
CUgraphNode *nb_graph_nodes(CUgraph graph, size_t *count) __attribute__((visibility("hidden")));

/* Reads CUDA 12's parameters if the driver has them: the older ones lack `kern`. */
CUresult nb_graph_kernel_parameters(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
    __attribute__((visibility("hidden")));

struct nb_graph_edges {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data; /* zeros if the driver has no edge data */
    size_t count;
};

/* False if the driver does not list the edges or memory runs out. Call nb_graph_edges_free in either case. */
bool nb_graph_edges(CUgraph graph, struct nb_graph_edges *edges) __attribute__((visibility("hidden")));
void nb_graph_edges_free(struct nb_graph_edges *edges) __attribute__((visibility("hidden")));

#endif
