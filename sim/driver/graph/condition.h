/* Conditional nodes and the handles that decide what they run. */
#ifndef NEUTRINO_SIM_GRAPH_CONDITION_H
#define NEUTRINO_SIM_GRAPH_CONDITION_H

#include "driver/graph/graph.h"

CUdeviceptr sim_graph_condition_handle(const struct sim_graph_condition *condition);

/* The body to run now, or NULL. */
const struct sim_graph *sim_graph_condition_choose(const struct sim_graph_condition *condition);

/* Flags and default of the handle may change in an executable graph. */
void sim_graph_condition_update(const struct sim_graph_condition *old, const struct sim_graph_condition *new);

/* Give the handles of a graph, and of those inside it, their values at the beginning of a launch. */
void sim_graph_handles_reset(const struct sim_graph *graph);

#if CUDA_VERSION >= 12030
/* What a node with these parameters does; its bodies are new and empty. */
CUresult sim_graph_condition_make(const CUDA_CONDITIONAL_NODE_PARAMS *parameters,
                                  const struct sim_graph *graph, struct sim_work *work);
void sim_graph_condition_describe(const struct sim_graph_node *node,
                                  CUDA_CONDITIONAL_NODE_PARAMS *parameters);
#endif

#endif
