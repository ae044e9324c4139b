/* Copies to and from globals, named by their host symbols. */
#include "runtime/copy.h"
#include "runtime/registry.h"

#include <stdint.h>

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr at;
    size_t bytes;
    if (devPtr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const cudaError_t error = runtime_global(symbol, &at, &bytes);
    if (error == cudaSuccess)
        *devPtr = (void *)(uintptr_t)at;
    return error;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr at;
    return size == NULL ? runtime_error(cudaErrorInvalidValue) : runtime_global(symbol, &at, size);
}

cudaError_t copy_symbol_part(const void *symbol, size_t offset, size_t count, void **part)
{
    CUdeviceptr at;
    size_t bytes;
    const cudaError_t error = runtime_global(symbol, &at, &bytes);
    if (error != cudaSuccess)
        return error;
    if (offset > bytes || count > bytes - offset)
        return runtime_error(cudaErrorInvalidValue);
    *part = (void *)(uintptr_t)(at + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    void *part = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = copy_symbol_part(symbol, offset, count, &part);
    return error == cudaSuccess ? copy_bytes(part, src, count, kind, stream, wait) : error;
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t count, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream, enum copy_wait wait)
{
    void *part = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = copy_symbol_part(symbol, offset, count, &part);
    return error == cudaSuccess ? copy_bytes(dst, part, count, kind, stream, wait) : error;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return to_symbol(symbol, src, count, offset, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpyToSymbol_ptds,
           (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind),
           to_symbol(symbol, src, count, offset, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_symbol(symbol, src, count, offset, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpyToSymbolAsync_ptsz,
           (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           to_symbol(symbol, src, count, offset, kind, runtime_per_thread(stream), COPY_QUEUED))

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return from_symbol(dst, symbol, count, offset, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpyFromSymbol_ptds,
           (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
           from_symbol(dst, symbol, count, offset, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_symbol(dst, symbol, count, offset, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpyFromSymbolAsync_ptsz,
           (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           from_symbol(dst, symbol, count, offset, kind, runtime_per_thread(stream), COPY_QUEUED))
