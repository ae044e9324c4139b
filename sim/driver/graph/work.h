/* Conversion between the API's node parameters and work, for typed and generic calls. The caller owns the
 * work. */
#ifndef NEUTRINO_SIM_GRAPH_WORK_H
#define NEUTRINO_SIM_GRAPH_WORK_H

#include "driver/graph/graph.h"

CUresult sim_graph_kernel_work(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *p,
                               struct sim_work *work);
void sim_graph_kernel_describe(const struct sim_graph_node *node, CUDA_KERNEL_NODE_PARAMS_v2 *p);

CUresult sim_graph_copy_work(const CUDA_MEMCPY3D *p, CUcontext context, struct sim_work *work);
void sim_graph_copy_describe(const struct sim_graph_node *node, CUDA_MEMCPY3D *p);

CUresult sim_graph_set_work(const CUDA_MEMSET_NODE_PARAMS_v1 *p, CUcontext context, struct sim_work *work);
void sim_graph_set_describe(const struct sim_graph_node *node, CUDA_MEMSET_NODE_PARAMS_v1 *p);

CUresult sim_graph_host_work(CUhostFn function, void *data, struct sim_work *work);

CUresult sim_graph_event_work(CUevent event, enum sim_work_kind kind, struct sim_work *work);
CUevent sim_graph_event_of(const struct sim_work *work);

/* Work of a node that is added to `parent`. `moved`: use the graph itself, not a clone. */
CUresult sim_graph_child_work(const struct sim_graph *parent, CUgraph handle, bool moved,
                              struct sim_work *work);

#endif
