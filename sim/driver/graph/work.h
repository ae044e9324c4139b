/* From the parameters of a node, as each call has them, to its work and back: for the calls of one kind of
 * node and for those of any. Work belongs to the caller. */
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

/* Of a node to be added to `parent`. `moved`: it gets the graph itself, not a clone. */
CUresult sim_graph_child_work(const struct sim_graph *parent, CUgraph handle, bool moved,
                              struct sim_work *work);

#endif
