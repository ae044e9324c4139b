/* Plans: what a launch of an executable graph runs. */
#ifndef NEUTRINO_SIM_GRAPH_PLAN_H
#define NEUTRINO_SIM_GRAPH_PLAN_H

#include "driver/graph/graph.h"

/* A clone of the graph with sorted nodes. Queued launches hold references. A plan is modified only while its
 * executable graph holds the only one. */
struct sim_graph_plan {
    struct sim_object object;
    struct sim_graph *graph;
    bool has_memory; /* contains allocations or frees */
};

/* CUDA_ERROR_INVALID_VALUE for a cycle, with `bad` a node of `graph` on it. */
CUresult sim_graph_plan_make(const struct sim_graph *graph, struct sim_graph_plan **plan,
                             const struct sim_graph_node **bad);
CUresult sim_graph_plan_clone(const struct sim_graph_plan *plan, struct sim_graph_plan **copy);

/* The plan's copy of a node of the source graph or of its nested graphs. NULL: none. */
struct sim_graph_node *sim_graph_plan_find(const struct sim_graph_plan *plan,
                                           const struct sim_graph_node *node);

/* Called for all nodes in running order, including those of bodies and child graphs. */
typedef CUresult sim_graph_visit(struct sim_graph_node *node, void *data);
CUresult sim_graph_plan_walk(const struct sim_graph_plan *plan, sim_graph_visit *visit, void *data);

#endif
