/* Data of dependencies. */
#ifndef NEUTRINO_SIM_GRAPH_EDGE_H
#define NEUTRINO_SIM_GRAPH_EDGE_H

#include "driver/graph/graph.h"

/* Give all dependencies of a new node their data. */
CUresult sim_graph_edges_set(struct sim_graph_node *node, const struct sim_graph_edge *edges);

#if CUDA_VERSION >= 12030
/* `data` as the API has it, NULL for plain edges; to be freed. */
CUresult sim_graph_edges_read(const CUgraphEdgeData *data, size_t count, struct sim_graph_edge **edges);
#endif

#endif
