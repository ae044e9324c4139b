/* Executable graphs. An update modifies the plan, or replaces it if a launch still uses it. */
#ifndef NEUTRINO_SIM_GRAPH_EXEC_H
#define NEUTRINO_SIM_GRAPH_EXEC_H

#include "driver/graph/plan.h"

#include <pthread.h>

struct sim_graph_exec {
    struct sim_object object;
    unsigned id;
    unsigned long long flags;
    struct sim_graph *source; /* owned reference: ids of the graph and its nodes must not be reused */
    pthread_mutex_t mutex;
    struct sim_graph_plan *plan;
    struct sim_stream *stream; /* of the newest launch, owned reference; NULL: not launched yet */
    uint64_t number;
};

CUresult sim_graph_exec_find(CUgraphExec handle, struct sim_context **context, struct sim_graph_exec **exec);

/* A plan that no launch uses and that may be modified until the mutex is released. Called with the mutex
 * held. */
CUresult sim_graph_exec_own_plan(struct sim_graph_exec *exec, struct sim_graph_plan **plan);

/* The reason why an update failed, and the node. */
struct sim_graph_update {
    CUgraphExecUpdateResult result;
    const struct sim_graph_node *node; /* of the graph that the update came from */
    const struct sim_graph_node *from;
};

/* Update the nodes of the executable graph, or of its child graph node `child`, from the matching nodes of
 * `graph`: all of them or none. `update` may be NULL. */
CUresult sim_graph_exec_update(struct sim_graph_exec *exec, const struct sim_graph_node *child,
                               const struct sim_graph *graph, struct sim_graph_update *update);

/* Whether a node's work may change to `after` in an executable graph. */
CUgraphExecUpdateResult sim_graph_may_become(const struct sim_graph_node *node, const struct sim_work *after,
                                             const CUDA_MEMCPY3D *parameters);

#endif
