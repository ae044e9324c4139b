/* Memory that graphs allocate: an address for as long as something knows it, accessible from the allocation
 * node's run to the run of what frees it. */
#ifndef NEUTRINO_SIM_GRAPH_MEMORY_H
#define NEUTRINO_SIM_GRAPH_MEMORY_H

#include "driver/graph/graph.h"
#include "driver/graph/plan.h"

struct sim_stream;

/* What an allocation node does: a new address. */
CUresult sim_graph_memory_make(size_t bytes, struct sim_work *work);

/* What a free node does. CUDA_ERROR_INVALID_VALUE unless a graph's allocation begins there. */
CUresult sim_graph_memory_release(CUdeviceptr address, struct sim_work *work);

/* `work` becomes a node of `graph`: keep whose the memory is and who frees it. CUDA_ERROR_INVALID_VALUE if it
 * is freed already. Any other work is left alone. */
CUresult sim_graph_memory_settle(const struct sim_work *work, const struct sim_graph *graph);

size_t sim_graph_memory_bytes(const struct sim_graph_memory *memory);
CUdeviceptr sim_graph_memory_address(const struct sim_graph_memory *memory);

/* A launch of the plan is about to be queued: check what it allocates and frees, and find the memory.
 * `automatic`: what an earlier launch left is freed, that is, allocated anew without more ado. */
CUresult sim_graph_memory_launch(const struct sim_graph_plan *plan, bool automatic);

/* That launch was not queued after all. */
void sim_graph_memory_cancel(const struct sim_graph_plan *plan);

/* Give all allocations of the plan their memory before its first launch. */
CUresult sim_graph_memory_back(const struct sim_graph_plan *plan);

/* The nodes run. */
void sim_graph_memory_begin(struct sim_graph_memory *memory);
void sim_graph_memory_end(struct sim_graph_memory *memory);

/* Frees from outside a graph. False: no graph's allocation begins at `address`. With a `stream` the free is
 * queued or captured there; without one it is done. */
bool sim_graph_memory_free(CUdeviceptr address, struct sim_stream *stream, CUresult *result);

/* Bytes of memory given to graphs, now or at most; and to take back what no launch uses. */
size_t sim_graph_memory_used(bool high);
void sim_graph_memory_reset_high(void);
void sim_graph_memory_trim(void);

/* What a context that ends leaves allocated. */
void sim_graph_memory_free_context(const struct sim_context *context);

/* cuMemAllocAsync on a stream that captures. */
CUresult sim_graph_memory_capture(struct sim_stream *stream, size_t bytes, CUdeviceptr *address);

#endif
