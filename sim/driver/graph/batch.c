#include "driver/graph/batch.h"

#include "driver/graph/node.h"
#include "driver/memory/range.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_LIMIT 256u /* "must be less than 256": cuda.h at cuStreamBatchMemOp */

static bool is_wait(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_write(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WRITE_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static unsigned width(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4 : 8;
}

/* Wait and write operations have their members at the same offsets. */
static CUresult check(const CUstreamBatchMemOpParams *operation)
{
    const CUstreamBatchMemOpType type = operation->operation;
    if (is_wait(type) || is_write(type)) {
        const CUdeviceptr address = operation->waitValue.address;
        const unsigned flags = operation->waitValue.flags;
        const unsigned allowed = is_wait(type) ? 3u : (unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
        if (is_wait(type) && (flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0)
            return CUDA_ERROR_NOT_SUPPORTED; /* CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0 */
        if (address % width(type) != 0 || !sim_range_addressable(address, width(type)) ||
            (flags & ~allowed) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    }
    if (type == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (type == CU_STREAM_MEM_OP_BARRIER)
        return operation->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_SUCCESS
                                                                                   : CUDA_ERROR_INVALID_VALUE;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_graph_batch_make(const CUstreamBatchMemOpParams *operations, unsigned count, unsigned flags,
                              struct sim_work *work)
{
    if ((operations == NULL && count != 0) || count >= COUNT_LIMIT || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        const CUresult result = check(&operations[i]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    struct sim_graph_batch *batch = malloc(sizeof(*batch) + count * sizeof(*operations));
    if (batch == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    batch->flags = flags;
    batch->count = count;
    if (count != 0)
        memcpy(batch->operations, operations, count * sizeof(*operations));
    *work = (struct sim_work){.kind = SIM_WORK_BATCH, .batch = batch};
    return CUDA_SUCCESS;
}

CUresult sim_graph_batch_from_value(struct sim_work *work, const struct sim_graph *graph)
{
    (void)graph;
    const bool wide = work->value.bytes == 8;
    CUstreamBatchMemOpParams operation;
    memset(&operation, 0, sizeof operation);
    if (work->kind == SIM_WORK_VALUE_WAIT)
        operation.operation = wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
    else
        operation.operation = wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.waitValue.address = work->value.address;
    operation.waitValue.value64 = work->value.value;
    operation.waitValue.flags = work->value.flags;
    return sim_graph_batch_make(&operation, 1, 0, work);
}

static CUresult clone_work(struct sim_work *copy, const struct sim_work *work, bool published)
{
    const size_t bytes = sizeof(*work->batch) + work->batch->count * sizeof(work->batch->operations[0]);
    (void)published;
    copy->batch = malloc(bytes);
    if (copy->batch == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy->batch, work->batch, bytes);
    return CUDA_SUCCESS;
}

static void clear(struct sim_work *work)
{
    free(work->batch);
}

/* Barriers and flushes do nothing here: values are read and written in sequence. */
static void run(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                struct sim_work *work)
{
    const struct sim_graph_batch *batch = work->batch;
    (void)stream, (void)number;
    for (unsigned i = 0; i < batch->count; i++) {
        const CUstreamBatchMemOpParams *operation = &batch->operations[i];
        const CUstreamBatchMemOpType type = operation->operation;
        if (!is_wait(type) && !is_write(type))
            continue;
        const unsigned bytes = width(type);
        struct sim_work value = {
            .kind = is_wait(type) ? SIM_WORK_VALUE_WAIT : SIM_WORK_VALUE_WRITE,
            .value = {operation->waitValue.address,
                      bytes == 4 ? operation->waitValue.value : operation->waitValue.value64, bytes,
                      operation->waitValue.flags}};
        sim_work_run(context, NULL, 0, &value);
    }
}

const struct sim_work_class sim_batch_work = {.run = run, .clone = clone_work, .clear = clear};

bool sim_graph_batch_may_become(const struct sim_graph_batch *before, const struct sim_graph_batch *after)
{
    bool may = before->count == after->count;
    for (unsigned i = 0; may && i < before->count; i++) {
        const CUstreamBatchMemOpParams *a = &before->operations[i];
        const CUstreamBatchMemOpParams *b = &after->operations[i];
        const unsigned fixed = is_wait(a->operation) ? CU_STREAM_WAIT_VALUE_FLUSH : ~0u;
        may = a->operation == b->operation;
        if (may && (is_wait(a->operation) || is_write(a->operation)))
            may = ((a->waitValue.flags ^ b->waitValue.flags) & fixed) == 0;
    }
    return may;
}

static CUresult from(const CUDA_BATCH_MEM_OP_NODE_PARAMS *p, struct sim_work *work)
{
    return p == NULL || p->ctx == NULL ? CUDA_ERROR_INVALID_VALUE
                                       : sim_graph_batch_make(p->paramArray, p->count, p->flags, work);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct sim_graph_place at;
    struct sim_work work;
    CUresult result = sim_graph_place(&at, phGraphNode, hGraph, dependencies, numDependencies);
    if (result == CUDA_SUCCESS)
        result = from(nodeParams, &work);
    return result == CUDA_SUCCESS ? sim_graph_add_at(&at, &work) : result;
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    struct sim_graph_node *node;
    const CUresult result = sim_graph_node_find(hNode, nodeParams_out, SIM_WORK_BATCH, &node);
    if (result == CUDA_SUCCESS)
        *nodeParams_out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = (CUcontext)node->context,
                                                          .count = node->work.batch->count,
                                                          .paramArray = node->work.batch->operations,
                                                          .flags = node->work.batch->flags};
    return result;
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct sim_graph_node *node;
    struct sim_work work;
    CUresult result = sim_graph_node_find(hNode, nodeParams, SIM_WORK_BATCH, &node);
    if (result == CUDA_SUCCESS)
        result = from(nodeParams, &work);
    return result == CUDA_SUCCESS ? sim_graph_replace(node, &work) : result;
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct sim_graph_step step;
    struct sim_work work;
    CUresult result = sim_graph_step_find(&step, hGraphExec, hNode, SIM_WORK_BATCH);
    if (result == CUDA_SUCCESS)
        result = from(nodeParams, &work);
    return result == CUDA_SUCCESS ? sim_graph_step_set(&step, &work) : result;
}
