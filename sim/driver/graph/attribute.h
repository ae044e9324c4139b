/* Launch attributes of kernel nodes. */
#ifndef NEUTRINO_SIM_GRAPH_ATTRIBUTE_H
#define NEUTRINO_SIM_GRAPH_ATTRIBUTE_H

#include "driver/graph/graph.h"

/* NULL: the node has no such attribute, or its id is not known. */
bool sim_graph_attribute_get(const struct sim_graph_node *node, CUlaunchAttributeID id,
                             CUlaunchAttributeValue *value);

/* The priority that work captured from a stream has. */
CUresult sim_graph_attribute_set_priority(struct sim_graph_node *node, int priority);

#endif
