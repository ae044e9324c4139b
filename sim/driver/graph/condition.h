/* Conditional nodes, and the handles that select their bodies. */
#ifndef NEUTRINO_SIM_GRAPH_CONDITION_H
#define NEUTRINO_SIM_GRAPH_CONDITION_H

#include "driver/graph/graph.h"

CUdeviceptr sim_graph_condition_handle(const struct sim_graph_condition *condition);

/* The body to run now. NULL: none. */
const struct sim_graph *sim_graph_condition_choose(const struct sim_graph_condition *condition);

/* An update may change the flags and the default value of a handle. */
void sim_graph_condition_update(const struct sim_graph_condition *old, const struct sim_graph_condition *new);

/* Set the handles of a graph, and of its nested graphs, to their initial values for a launch. */
void sim_graph_handles_reset(const struct sim_graph *graph);

#if CUDA_VERSION >= 12030
/* Work of a node with these parameters. Its bodies are new and empty. */
CUresult sim_graph_condition_make(const CUDA_CONDITIONAL_NODE_PARAMS *parameters,
                                  const struct sim_graph *graph, struct sim_work *work);
void sim_graph_condition_describe(const struct sim_graph_node *node,
                                  CUDA_CONDITIONAL_NODE_PARAMS *parameters);
#endif

#endif
