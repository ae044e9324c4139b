/* Stream operations that wait for values in memory and write them. */
#include "driver/context/context.h"
#include "driver/graph/batch.h"
#include "driver/memory/range.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <time.h>

#define BATCH_MAX 255u /* "must be less than 256": the manual at cuStreamBatchMemOp */

static uint64_t read_value(uint64_t address, unsigned bytes)
{
    if (bytes == 4)
        return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)address, memory_order_acquire);
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)address, memory_order_acquire);
}

static bool value_matches(uint64_t found, uint64_t wanted, unsigned flags, unsigned bytes)
{
    switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic, as documented */
        return bytes == 4 ? (int32_t)((uint32_t)found - (uint32_t)wanted) >= 0
                          : (int64_t)(found - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return bytes == 4 ? ~((uint32_t)found | (uint32_t)wanted) != 0 : ~(found | wanted) != 0;
    }
}

static void run_wait(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    (void)stream, (void)number;
    const struct timespec pause = {.tv_nsec = 20000};
    while (!value_matches(read_value(work->value.address, work->value.bytes), work->value.value,
                          work->value.flags, work->value.bytes) &&
           sim_context_error(context) == CUDA_SUCCESS)
        nanosleep(&pause, NULL);
}

static void run_write(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                      struct sim_work *work)
{
    (void)context, (void)stream, (void)number;
    const uint64_t address = work->value.address;
    if (work->value.bytes == 4)
        atomic_store_explicit((_Atomic uint32_t *)(uintptr_t)address, (uint32_t)work->value.value,
                              memory_order_release);
    else
        atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)address, work->value.value,
                              memory_order_release);
}

const struct sim_work_class sim_value_wait_work = {.run = run_wait,
                                                   .enter_graph = sim_graph_batch_from_value};
const struct sim_work_class sim_value_write_work = {.run = run_write,
                                                    .enter_graph = sim_graph_batch_from_value};

static unsigned width(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4 : 8;
}

static bool is_wait(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

/* Managed memory is refused, as documented. A wait with a flush of remote writes needs
 * CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, which this device lacks. Writes have no valid flag any more.
 */
static CUresult prepare(const CUstreamBatchMemOpParams *operation, struct sim_work *work)
{
    const CUstreamBatchMemOpType type = operation->operation;
    const uint64_t address = operation->waitValue.address;
    const unsigned flags = operation->waitValue.flags;
    struct sim_range range;
    if (address % width(type) != 0 || !sim_range_accessible(address, width(type)) ||
        !sim_range_find(address, &range) || range.kind == SIM_MEMORY_MANAGED ||
        (flags & ~(is_wait(type) ? 3u | CU_STREAM_WAIT_VALUE_FLUSH : 0u)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    *work = (struct sim_work){
        .kind = is_wait(type) ? SIM_WORK_VALUE_WAIT : SIM_WORK_VALUE_WRITE,
        .value = {address, width(type) == 4 ? operation->waitValue.value : operation->waitValue.value64,
                  width(type), flags}};
    return CUDA_SUCCESS;
}

static CUresult submit_value(CUstreamBatchMemOpType type, CUstream hStream, CUdeviceptr address,
                             uint64_t number, unsigned flags, bool per_thread)
{
    struct sim_stream *stream;
    struct sim_work work;
    CUstreamBatchMemOpParams operation = {.operation = type};
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    operation.waitValue.address =
        address; /* wait and write operations have their members at the same offsets */
    operation.waitValue.value64 = number;
    operation.waitValue.flags = flags;
    result = prepare(&operation, &work);
    return result == CUDA_SUCCESS ? sim_stream_submit(stream, &work, NULL) : result;
}

#define VALUE_OPERATION(name, type, operation)                                                               \
    CUresult name##_v2(CUstream stream, CUdeviceptr address, type value, unsigned flags)                     \
    {                                                                                                        \
        return submit_value(operation, stream, address, value, flags, false);                                \
    }                                                                                                        \
    CUresult name##_v2_ptsz(CUstream stream, CUdeviceptr address, type value, unsigned flags)                \
    {                                                                                                        \
        return submit_value(operation, stream, address, value, flags, true);                                 \
    }

VALUE_OPERATION(cuStreamWaitValue32, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
VALUE_OPERATION(cuStreamWaitValue64, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
VALUE_OPERATION(cuStreamWriteValue32, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
VALUE_OPERATION(cuStreamWriteValue64, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)

/* Values are read and written in sequence here, so barriers do nothing. */
static CUresult prepare_any(const CUstreamBatchMemOpParams *operation, struct sim_work *work)
{
    *work = (struct sim_work){.kind = SIM_WORK_NONE};
    switch (operation->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return prepare(operation, work);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    case CU_STREAM_MEM_OP_BARRIER:
        return operation->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_SUCCESS
                                                                                   : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* All operations are checked before the first is queued. */
static CUresult batch(CUstream hStream, unsigned count, const CUstreamBatchMemOpParams *operations,
                      unsigned flags, bool per_thread)
{
    struct sim_stream *stream;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > BATCH_MAX || flags != 0 || (count != 0 && operations == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work *works = calloc(count + 1, sizeof(*works));
    if (works == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = prepare_any(&operations[i], &works[i]);
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (works[i].kind != SIM_WORK_NONE)
            result = sim_stream_submit(stream, &works[i], NULL);
    free(works);
    return result;
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                               unsigned int flags)
{
    return batch(stream, count, paramArray, flags, false);
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                    unsigned int flags)
{
    return batch(stream, count, paramArray, flags, true);
}
