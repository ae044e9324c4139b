/* Several copies in one call, each with an access order for its source. All are checked before the first is
 * queued. */
#include "driver/context/context.h"
#include "driver/copy/copy.h"
#include "driver/memory/array.h"
#include "driver/memory/range.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

#if CUDA_VERSION >= 12080

#define FLAGS ((unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)

struct batch {
    struct sim_copy *copies;
    CUmemcpySrcAccessOrder *orders;
    size_t count;
};

static bool make(struct batch *batch, size_t count)
{
    batch->count = 0;
    batch->copies = calloc(count, sizeof(*batch->copies));
    batch->orders = calloc(count, sizeof(*batch->orders));
    return batch->copies != NULL && batch->orders != NULL;
}

static void drop(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        sim_copy_clear(&batch->copies[i]);
    free(batch->copies);
    free(batch->orders);
}

/* "Must not be legacy NULL stream" (cuda.h). */
static CUresult enter(CUstream hStream, bool per_thread, struct sim_stream **stream)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (hStream == CU_STREAM_LEGACY || (hStream == NULL && !per_thread))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_stream_resolve(context, hStream, per_thread, stream);
}

static bool order_is_valid(CUmemcpySrcAccessOrder order, unsigned flags)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           (flags & ~FLAGS) == 0;
}

/* A source that may be gone after the call is read at once: a single row is staged, other copies are waited
 * for. */
static CUresult queue(struct sim_copy *copy, CUmemcpySrcAccessOrder order, struct sim_stream *stream,
                      CUstream hStream, bool per_thread)
{
    enum sim_copy_return when = SIM_COPY_IN_ORDER;
    if (order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && copy->staging == NULL) {
        if (copy->height == 1 && copy->depth == 1 && copy->source_array == NULL) {
            if (!sim_copy_stage(copy)) {
                sim_copy_clear(copy);
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
        } else if (!sim_stream_is_capturing(stream)) {
            when = SIM_COPY_DONE;
        }
    }
    return sim_copy_submit(copy, hStream, per_thread, when);
}

static CUresult submit(struct batch *batch, struct sim_stream *stream, CUstream hStream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        struct sim_copy copy = batch->copies[i]; /* with its references */
        batch->copies[i] = (struct sim_copy){0};
        result = queue(&copy, batch->orders[i], stream, hStream, per_thread);
    }
    return result;
}

static CUresult read_row(CUdeviceptr to, CUdeviceptr from, size_t bytes, const CUmemcpyAttributes *attribute,
                         struct batch *batch)
{
    if (!order_is_valid(attribute->srcAccessOrder, attribute->flags))
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = sim_copy_linear(to, CU_MEMORYTYPE_UNIFIED, from, CU_MEMORYTYPE_UNIFIED, bytes,
                                            &batch->copies[batch->count]);
    if (result == CUDA_SUCCESS)
        batch->orders[batch->count++] = attribute->srcAccessOrder;
    return result;
}

/* Attributes k apply from copy indexes[k] on: indexes start at 0, rise, and are below `count`. */
static bool indexes_are_valid(const size_t *indexes, size_t number, size_t count)
{
    if (number == 0 || number > count || indexes[0] != 0)
        return false;
    for (size_t i = 1; i < number; i++)
        if (indexes[i] <= indexes[i - 1] || indexes[i] >= count)
            return false;
    return true;
}

static CUresult rows(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes, size_t count,
                     const CUmemcpyAttributes *attributes, const size_t *indexes, size_t number,
                     size_t *failed, CUstream hStream, bool per_thread)
{
    struct sim_stream *stream;
    struct batch batch;
    if (failed != NULL)
        *failed = SIZE_MAX; /* no single copy failed */
    CUresult result = enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (to == NULL || from == NULL || sizes == NULL || attributes == NULL || indexes == NULL || count == 0 ||
        !indexes_are_valid(indexes, number, count))
        return CUDA_ERROR_INVALID_VALUE;
    if (!make(&batch, count))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0, k = 0; i < count && result == CUDA_SUCCESS; i++) {
        if (k + 1 < number && indexes[k + 1] == i)
            k++;
        result = read_row(to[i], from[i], sizes[i], &attributes[k], &batch);
        if (result != CUDA_SUCCESS && failed != NULL)
            *failed = i;
    }
    if (result == CUDA_SUCCESS)
        result = submit(&batch, stream, hStream, per_thread);
    drop(&batch);
    return result;
}

/* The array of an operand, or NULL. */
static const struct sim_array *array_of(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? sim_object_find(operand->op.array.array, SIM_ARRAY)
                                                         : NULL;
}

/* Extents, offsets and row lengths are in elements of the array, or in bytes without an array. */
static CUresult read_volume(const CUDA_MEMCPY3D_BATCH_OP *op, struct batch *batch)
{
    const struct sim_array *source = array_of(&op->src);
    const struct sim_array *destination = array_of(&op->dst);
    const size_t unit = source != NULL        ? source->element_bytes
                        : destination != NULL ? destination->element_bytes
                                              : 1;
    const size_t most = SIZE_MAX / 16; /* products with the element size must not wrap */
    if (!order_is_valid(op->srcAccessOrder, op->flags) || op->extent.width == 0 || op->extent.height == 0 ||
        op->extent.depth == 0 || op->extent.width > most)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D p = {
        .WidthInBytes = op->extent.width * unit, .Height = op->extent.height, .Depth = op->extent.depth};
    if (op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY && op->src.op.array.offset.x <= most) {
        p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        p.srcArray = op->src.op.array.array;
        p.srcXInBytes = op->src.op.array.offset.x * unit;
        p.srcY = op->src.op.array.offset.y;
        p.srcZ = op->src.op.array.offset.z;
    } else if (op->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER && op->src.op.ptr.rowLength <= most) {
        p.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        p.srcDevice = op->src.op.ptr.ptr;
        p.srcPitch = op->src.op.ptr.rowLength * unit;
        p.srcHeight = op->src.op.ptr.layerHeight;
    }
    if (op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY && op->dst.op.array.offset.x <= most) {
        p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        p.dstArray = op->dst.op.array.array;
        p.dstXInBytes = op->dst.op.array.offset.x * unit;
        p.dstY = op->dst.op.array.offset.y;
        p.dstZ = op->dst.op.array.offset.z;
    } else if (op->dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER && op->dst.op.ptr.rowLength <= most) {
        p.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        p.dstDevice = op->dst.op.ptr.ptr;
        p.dstPitch = op->dst.op.ptr.rowLength * unit;
        p.dstHeight = op->dst.op.ptr.layerHeight;
    }
    const CUresult result =
        sim_copy_3d(&p, &batch->copies[batch->count]); /* refuses an operand without a type */
    if (result == CUDA_SUCCESS)
        batch->orders[batch->count++] = op->srcAccessOrder;
    return result;
}

static CUresult volumes(size_t count, const CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed,
                        unsigned long long flags, CUstream hStream, bool per_thread)
{
    struct sim_stream *stream;
    struct batch batch;
    if (failed != NULL)
        *failed = SIZE_MAX;
    CUresult result = enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (list == NULL || count == 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!make(&batch, count))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = read_volume(&list[i], &batch);
        if (result != CUDA_SUCCESS && failed != NULL)
            *failed = i;
    }
    if (result == CUDA_SUCCESS)
        result = submit(&batch, stream, hStream, per_thread);
    drop(&batch);
    return result;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
                            CUstream hStream)
{
    return rows(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream, false);
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                 size_t *failIdx, CUstream hStream)
{
    return rows(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream, true);
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                              unsigned long long flags, CUstream hStream)
{
    return volumes(numOps, opList, failIdx, flags, hStream, false);
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                   unsigned long long flags, CUstream hStream)
{
    return volumes(numOps, opList, failIdx, flags, hStream, true);
}

#if CUDA_VERSION >= 13000
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                               CUstream hStream)
{
    return rows(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream, false);
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                    CUstream hStream)
{
    return rows(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream, true);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                 CUstream hStream)
{
    return volumes(numOps, opList, NULL, flags, hStream, false);
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                      CUstream hStream)
{
    return volumes(numOps, opList, NULL, flags, hStream, true);
}
#endif

#if CUDA_VERSION >= 13020
static CUresult one_row(CUdeviceptr dst, CUdeviceptr src, size_t size, const CUmemcpyAttributes *attribute,
                        CUstream hStream, bool per_thread)
{
    const size_t first = 0;
    return rows(&dst, &src, &size, 1, attribute, &first, 1, NULL, hStream, per_thread);
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr,
                                     CUstream hStream)
{
    return one_row(dst, src, size, attr, hStream, false);
}

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                          CUmemcpyAttributes *attr, CUstream hStream)
{
    return one_row(dst, src, size, attr, hStream, true);
}

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream)
{
    return volumes(1, op, NULL, flags, hStream, false);
}

CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                            CUstream hStream)
{
    return volumes(1, op, NULL, flags, hStream, true);
}
#endif

#endif
