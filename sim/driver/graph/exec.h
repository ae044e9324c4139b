/* Executable graphs: a plan that updates replace or change while no launch uses it. */
#ifndef NEUTRINO_SIM_GRAPH_EXEC_H
#define NEUTRINO_SIM_GRAPH_EXEC_H

#include "driver/graph/plan.h"

#include <pthread.h>

struct sim_graph_exec {
    struct sim_object object;
    unsigned id;
    unsigned long long flags;
    struct sim_graph *source; /* owned reference, so that its id and those of its nodes are not reused */
    pthread_mutex_t mutex;
    struct sim_graph_plan *plan;
    struct sim_stream *stream; /* of the newest launch: owned reference; NULL: none yet */
    uint64_t number;
};

CUresult sim_graph_exec_find(CUgraphExec handle, struct sim_context **context, struct sim_graph_exec **exec);

/* The plan, to be changed before the mutex is released: one that no launch uses. Called with the mutex held.
 */
CUresult sim_graph_exec_own_plan(struct sim_graph_exec *exec, struct sim_graph_plan **plan);

/* Why an update failed, and where. */
struct sim_graph_update {
    CUgraphExecUpdateResult result;
    const struct sim_graph_node *node; /* of the graph that is updated from */
    const struct sim_graph_node *from;
};

/* Give the nodes of the executable graph, or of its child graph node `child`, the parameters of those of
 * `graph` that they pair with. All or none. `update` may be NULL. */
CUresult sim_graph_exec_update(struct sim_graph_exec *exec, const struct sim_graph_node *child,
                               const struct sim_graph *graph, struct sim_graph_update *update);

/* Whether what a node does may become `after` in an executable graph. */
CUgraphExecUpdateResult sim_graph_may_become(const struct sim_graph_node *node, const struct sim_work *after,
                                             const CUDA_MEMCPY3D *parameters);

#endif
