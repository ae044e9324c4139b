/* Launch attributes of kernel nodes. */
#ifndef NEUTRINO_SIM_GRAPH_ATTRIBUTE_H
#define NEUTRINO_SIM_GRAPH_ATTRIBUTE_H

#include "driver/graph/graph.h"

/* False: the node has no such attribute, or the id is unknown. */
bool sim_graph_attribute_get(const struct sim_graph_node *node, CUlaunchAttributeID id,
                             CUlaunchAttributeValue *value);

/* Set the priority of a node captured from a stream. */
CUresult sim_graph_attribute_set_priority(struct sim_graph_node *node, int priority);

#endif
