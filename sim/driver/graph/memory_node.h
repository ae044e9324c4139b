/* Parameters of allocation nodes. */
#ifndef NEUTRINO_SIM_GRAPH_MEMORY_NODE_H
#define NEUTRINO_SIM_GRAPH_MEMORY_NODE_H

#include "driver/graph/graph.h"

/* Stores the address of the new allocation in the parameters. */
CUresult sim_graph_allocation_work(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct sim_work *work);
void sim_graph_allocation_describe(const struct sim_graph_node *node, CUDA_MEM_ALLOC_NODE_PARAMS *p);

#endif
