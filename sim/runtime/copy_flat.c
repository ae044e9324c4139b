/* Copies of bytes that fill an array row after row. Deprecated in CUDA's header, but in use. */
#include "runtime/channel.h"
#include "runtime/copy.h"

/* A copy between an array and memory. */
struct flat_copy {
    cudaArray_t array;
    char *memory;
    bool is_to_array;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    enum copy_wait wait;
};

static cudaError_t copy_rows(const struct flat_copy *copy, size_t x, size_t y, size_t at, size_t width,
                             size_t rows)
{
    if (width == 0 || rows == 0)
        return cudaSuccess;
    return copy->is_to_array ? copy_to_array(copy->array, x, y, copy->memory + at, width, width, rows,
                                             copy->kind, copy->stream, copy->wait)
                             : copy_from_array(copy->memory + at, width, copy->array, x, y, width, rows,
                                               copy->kind, copy->stream, copy->wait);
}

/* The rest of the first row, whole rows, and the begin of the last row. */
static cudaError_t copy_flat(const struct flat_copy *copy, size_t x, size_t y, size_t count)
{
    struct cudaChannelFormatDesc channel;
    struct cudaExtent extent;
    cudaError_t error = cudaArrayGetInfo(&channel, &extent, NULL, copy->array);
    if (error != cudaSuccess)
        return error;
    const size_t row = extent.width * (size_t)(channel.x + channel.y + channel.z + channel.w) / 8;
    if (x >= row)
        return runtime_error(cudaErrorInvalidValue);
    const size_t first = x == 0 ? 0 : count < row - x ? count : row - x;
    const size_t whole = (count - first) / row, rest = (count - first) % row;
    const size_t next = y + (first != 0);
    error = copy_rows(copy, x, y, 0, first, 1);
    if (error == cudaSuccess)
        error = copy_rows(copy, 0, next, first, row, whole);
    return error == cudaSuccess ? copy_rows(copy, 0, next + whole, first + whole * row, rest, 1) : error;
}

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
                            enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    const struct flat_copy copy = {dst, (char *)(uintptr_t)src, true, kind, stream, wait};
    return copy_flat(&copy, x, y, count);
}

static cudaError_t from_array(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
                              enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    const struct flat_copy copy = {(cudaArray_t)(uintptr_t)src, dst, false, kind, stream, wait};
    return copy_flat(&copy, x, y, count);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                              enum cudaMemcpyKind kind)
{
    return to_array(dst, wOffset, hOffset, src, count, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpyToArray_ptds,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
            enum cudaMemcpyKind kind),
           to_array(dst, wOffset, hOffset, src, count, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                   size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_array(dst, wOffset, hOffset, src, count, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpyToArrayAsync_ptsz,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           to_array(dst, wOffset, hOffset, src, count, kind, runtime_per_thread(stream), COPY_QUEUED))

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, enum cudaMemcpyKind kind)
{
    return from_array(dst, src, wOffset, hOffset, count, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpyFromArray_ptds,
           (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
            enum cudaMemcpyKind kind),
           from_array(dst, src, wOffset, hOffset, count, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                     size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_array(dst, src, wOffset, hOffset, count, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpyFromArrayAsync_ptsz,
           (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           from_array(dst, src, wOffset, hOffset, count, kind, runtime_per_thread(stream), COPY_QUEUED))
