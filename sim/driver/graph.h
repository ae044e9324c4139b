/* Graphs, their nodes, and the plans that executable graphs run. */
#ifndef NEUTRINO_SIM_GRAPH_H
#define NEUTRINO_SIM_GRAPH_H

#include "api.h"
#include "object.h"
#include "work.h"

struct sim_graph_node {
    struct sim_object object; /* lives and dies with its graph */
    struct sim_graph *graph;
    struct sim_work work;
    const void *origin; /* the node it was cloned from, NULL: none */
    void **arguments;   /* of a kernel node: pointers into its parameters, for GetParams */
    struct sim_graph_node **dependencies;
    size_t dependency_count;
};

struct sim_graph {
    struct sim_object object;
    struct sim_graph_node **nodes; /* in the order they were made */
    size_t node_count;
};

/* What a launch of an executable graph does, in order. Never changed once made: launches hold references. */
struct sim_graph_step {
    const struct sim_graph_node *source; /* to be compared only: the node may be gone */
    struct sim_work work;
};

struct sim_graph_plan {
    struct sim_object object;
    size_t count;
    struct sim_graph_step steps[];
};

struct sim_graph *sim_graph_make(void);
void sim_graph_close(struct sim_graph *graph);
CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **copy);

/* Takes what `work` owns, also on error. */
CUresult sim_graph_add(struct sim_graph *graph, struct sim_graph_node *const *dependencies, size_t count,
                       struct sim_work *work, struct sim_graph_node **node);
bool sim_graph_depend(struct sim_graph_node *node, struct sim_graph_node *on);

/* Nodes in an order that respects dependencies. CUDA_ERROR_INVALID_VALUE for a cycle. */
CUresult sim_graph_plan_make(const struct sim_graph *graph, struct sim_graph_plan **plan);
CUresult sim_graph_plan_clone(const struct sim_graph_plan *plan, struct sim_graph_plan **copy);
void sim_graph_plan_run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                        struct sim_graph_plan *plan);
void sim_graph_plan_place_events(struct sim_graph_plan *plan, struct sim_stream *stream, uint64_t number);

#endif
