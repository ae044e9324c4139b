/* Batches of memory operations, for batch-mem-op nodes. */
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

/* Turn a single value wait or write, which stream capture submits, into a batch of one. */
CUresult sim_graph_batch_from_value(struct sim_work *work, const struct sim_graph *graph);

/* Whether an executable graph's batch may change to `after`: the same operations on other values (cuda.h at
 * cuGraphExecBatchMemOpNodeSetParams). */
bool sim_graph_batch_may_become(const struct sim_graph_batch *before, const struct sim_graph_batch *after);

#endif
