/* Launch attributes of kernel nodes. */
#ifndef NEUTRINO_SIM_GRAPH_ATTRIBUTE_H
#define NEUTRINO_SIM_GRAPH_ATTRIBUTE_H

#include "driver/graph/graph.h"

/* CU_LAUNCH_ATTRIBUTE_MAX of the newest header known; attributes of a newer one are not supported. */
#define SIM_GRAPH_ATTRIBUTES 19

struct sim_graph_attributes {
    CUlaunchAttributeValue values[SIM_GRAPH_ATTRIBUTES]; /* by their id */
};

/* The node gets those of another; without any it has the defaults. */
CUresult sim_graph_attributes_copy(struct sim_graph_node *to, const struct sim_graph_node *from);

/* NULL: the node has no such attribute, or its id is not known. */
bool sim_graph_attribute_get(const struct sim_graph_node *node, CUlaunchAttributeID id,
                             CUlaunchAttributeValue *value);

/* The priority that work captured from a stream has. */
CUresult sim_graph_attribute_set_priority(struct sim_graph_node *node, int priority);

#endif
