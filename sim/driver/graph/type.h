/* Node types with the API's numbers. */
#ifndef NEUTRINO_SIM_GRAPH_TYPE_H
#define NEUTRINO_SIM_GRAPH_TYPE_H

#include "driver/stream/work.h"

#define SIM_GRAPH_TYPE_CONDITIONAL 13 /* CU_GRAPH_NODE_TYPE_CONDITIONAL; headers before 12.3 lack it */

int sim_graph_type(const struct sim_work *work);

#endif
