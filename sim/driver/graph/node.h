/* Shared parts of the calls for nodes: find the node, check the arguments, store the work. */
#ifndef NEUTRINO_SIM_GRAPH_NODE_H
#define NEUTRINO_SIM_GRAPH_NODE_H

#include "driver/graph/graph.h"

struct sim_graph_exec;

/* Checked arguments of a call that adds a node. */
struct sim_graph_place {
    struct sim_context *context;
    struct sim_graph *graph;
    CUgraphNode *made;
    struct sim_graph_node *const *dependencies;
    size_t count;
};

/* Checks of every call: initialized, a current context, valid handles. */
CUresult sim_graph_find(CUgraph handle, struct sim_context **context, struct sim_graph **graph);
CUresult sim_graph_node_find_any(CUgraphNode handle, const void *out, struct sim_graph_node **node);
CUresult sim_graph_node_find(CUgraphNode handle, const void *out, enum sim_work_kind kind,
                             struct sim_graph_node **node);

CUresult sim_graph_place(struct sim_graph_place *place, CUgraphNode *made, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count);

/* Add the node. Takes what `work` owns. */
CUresult sim_graph_add_at(const struct sim_graph_place *place, struct sim_work *work);

/* The context that a call names for a node. It must be alive. NULL: the current context. */
CUresult sim_graph_node_context(CUcontext handle, struct sim_context **context);

/* A node of an executable graph, named by the node it was made from. */
struct sim_graph_step {
    struct sim_context *context;
    struct sim_graph_exec *exec;
    const struct sim_graph_node *source;
};

CUresult sim_graph_step_find(struct sim_graph_step *step, CUgraphExec exec, CUgraphNode node,
                             enum sim_work_kind kind);

/* Replace the node's work from the next launch on, if the change is allowed. Takes what `work` owns. */
CUresult sim_graph_step_set(const struct sim_graph_step *step, struct sim_work *work);
CUresult sim_graph_step_set_copy(const struct sim_graph_step *step, struct sim_work *work,
                                 const CUDA_MEMCPY3D *parameters);

#endif
