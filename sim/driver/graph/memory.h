/* Memory that graphs allocate. The address is reserved as long as references exist; the memory is accessible
 * from the run of the allocation node to the free. */
#ifndef NEUTRINO_SIM_GRAPH_MEMORY_H
#define NEUTRINO_SIM_GRAPH_MEMORY_H

#include "driver/graph/graph.h"
#include "driver/graph/plan.h"

struct sim_stream;

/* Work of an allocation node with a new address. */
CUresult sim_graph_memory_make(size_t bytes, struct sim_work *work);

/* Work of a free node. CUDA_ERROR_INVALID_VALUE unless a graph's allocation begins at `address`. */
CUresult sim_graph_memory_release(CUdeviceptr address, struct sim_work *work);

size_t sim_graph_memory_bytes(const struct sim_graph_memory *memory);
CUdeviceptr sim_graph_memory_address(const struct sim_graph_memory *memory);

/* Check the allocations and frees of a launch that is about to be queued, and provide the memory.
 * `automatic`: free first what an earlier launch left allocated. */
CUresult sim_graph_memory_launch(const struct sim_graph_plan *plan, bool automatic);

/* Undo sim_graph_memory_launch: the launch could not be queued. */
void sim_graph_memory_cancel(const struct sim_graph_plan *plan);

/* Provide memory for all allocations of the plan before its first launch. */
CUresult sim_graph_memory_provide(const struct sim_graph_plan *plan);

/* Free graph memory by a call. With a `stream` the free is queued or captured there; without, it is done at
 * once. False: no graph's allocation begins at `address`. */
bool sim_graph_memory_free(CUdeviceptr address, struct sim_stream *stream, CUresult *result);

/* Bytes of memory in use by graphs, now or at the high watermark. Trim releases memory that no launch uses.
 */
size_t sim_graph_memory_in_use(bool high);
void sim_graph_memory_reset_high(void);
void sim_graph_memory_trim(void);

/* Free what an ended context left allocated. */
void sim_graph_memory_free_context(const struct sim_context *context);

/* cuMemAllocAsync on a stream that captures. */
CUresult sim_graph_memory_capture(struct sim_stream *stream, size_t bytes, CUdeviceptr *address);

#endif
