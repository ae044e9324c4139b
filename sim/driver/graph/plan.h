/* What a launch of an executable graph does. */
#ifndef NEUTRINO_SIM_GRAPH_PLAN_H
#define NEUTRINO_SIM_GRAPH_PLAN_H

#include "driver/graph/graph.h"

/* A clone of the graph, whose graphs know the order of their nodes. Queued launches hold references: it is
 * changed only while nobody but its executable graph holds one. */
struct sim_graph_plan {
    struct sim_object object;
    struct sim_graph *graph;
    bool has_memory; /* allocations or frees */
};

/* CUDA_ERROR_INVALID_VALUE for a cycle; `bad` is then a node of `graph` that is part of it. */
CUresult sim_graph_plan_make(const struct sim_graph *graph, struct sim_graph_plan **plan,
                             const struct sim_graph_node **bad);
CUresult sim_graph_plan_clone(const struct sim_graph_plan *plan, struct sim_graph_plan **copy);

/* The plan's own node for one of the graph it was made from, or of one inside that; NULL: none. */
struct sim_graph_node *sim_graph_plan_find(const struct sim_graph_plan *plan,
                                           const struct sim_graph_node *node);

/* Called for the nodes of the plan in the order they run in, of bodies and child graphs as well. */
typedef CUresult sim_graph_visit(struct sim_graph_node *node, void *data);
CUresult sim_graph_plan_walk(const struct sim_graph_plan *plan, sim_graph_visit *visit, void *data);

void sim_graph_plan_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                        struct sim_graph_plan *plan);
void sim_graph_plan_place_events(struct sim_graph_plan *plan, struct sim_stream *stream, uint64_t number);

#endif
