/* Batches of memory operations: what batch-mem-op nodes hold. */
#ifndef NEUTRINO_SIM_GRAPH_BATCH_H
#define NEUTRINO_SIM_GRAPH_BATCH_H

#include "driver/stream/work.h"

struct sim_graph_batch {
    unsigned flags;
    unsigned count;
    CUstreamBatchMemOpParams operations[];
};

/* Check the operations and copy them. */
CUresult sim_graph_batch_make(const CUstreamBatchMemOpParams *operations, unsigned count, unsigned flags,
                              struct sim_work *work);

/* Make a single wait or write of a value, as capture gives it, a batch of one; leave any other work alone. */
CUresult sim_graph_batch_of(struct sim_work *work);

struct sim_graph_batch *sim_graph_batch_clone(const struct sim_graph_batch *batch);
void sim_graph_batch_run(struct sim_context *context, const struct sim_graph_batch *batch);

/* Whether an executable graph's batch may become `after`: the same operations on other values (cuda.h at
 * cuGraphExecBatchMemOpNodeSetParams). */
bool sim_graph_batch_may_become(const struct sim_graph_batch *before, const struct sim_graph_batch *after);

#endif
