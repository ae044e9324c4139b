/* Data of edges. */
#ifndef NEUTRINO_SIM_GRAPH_EDGE_H
#define NEUTRINO_SIM_GRAPH_EDGE_H

#include "driver/graph/graph.h"

/* Set the edge data of all dependencies of a new node. */
CUresult sim_graph_edges_set(struct sim_graph_node *node, const struct sim_graph_edge *edges);

#if CUDA_VERSION >= 12030
/* Convert `data` of the API, NULL for plain edges. Free the result. */
CUresult sim_graph_edges_read(const CUgraphEdgeData *data, size_t count, struct sim_graph_edge **edges);
#endif

#endif
