/* Conditional nodes and the handles that decide what they run. */
#ifndef NEUTRINO_SIM_GRAPH_CONDITION_H
#define NEUTRINO_SIM_GRAPH_CONDITION_H

#include "driver/graph/graph.h"

/* As CUgraphConditionalNodeType, which headers before 12.3 lack. */
enum sim_condition_type { SIM_CONDITION_IF, SIM_CONDITION_WHILE, SIM_CONDITION_SWITCH };

struct sim_graph_condition {
    struct sim_condition_value *value; /* owned reference */
    enum sim_condition_type type;
    unsigned size;
    struct sim_graph *bodies[];
};

CUdeviceptr sim_graph_condition_handle(const struct sim_graph_condition *condition);

/* The body to run now, or NULL. */
const struct sim_graph *sim_graph_condition_choose(const struct sim_graph_condition *condition);

CUresult sim_graph_condition_clone(const struct sim_graph_condition *condition, bool published,
                                   struct sim_work *copy);
/* Flags and default of the handle may change in an executable graph. */
void sim_graph_condition_update(const struct sim_graph_condition *old, const struct sim_graph_condition *new);
void sim_graph_condition_free(struct sim_graph_condition *condition);

CUresult sim_graph_handles_copy(struct sim_graph *to, const struct sim_graph *from);
void sim_graph_handles_clear(struct sim_graph *graph);

/* Give the handles of a graph, and of those inside it, their values at the beginning of a launch. */
void sim_graph_handles_reset(const struct sim_graph *graph);

/* Whether all of them belong to a node. */
bool sim_graph_handles_are_used(const struct sim_graph *graph);

#if CUDA_VERSION >= 12030
/* What a node with these parameters does; its bodies are new and empty. */
CUresult sim_graph_condition_make(const CUDA_CONDITIONAL_NODE_PARAMS *parameters,
                                  const struct sim_graph *graph, struct sim_work *work);
void sim_graph_condition_describe(const struct sim_graph_node *node,
                                  CUDA_CONDITIONAL_NODE_PARAMS *parameters);
#endif

#endif
