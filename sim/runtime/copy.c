#include "runtime/copy.h"

#include <stdint.h>

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

CUresult copy_done(CUresult queued, cudaStream_t stream, enum copy_wait wait)
{
    return queued == CUDA_SUCCESS && wait == COPY_WAITED ? DRIVER(cuStreamSynchronize)(stream) : queued;
}

static CUresult queued(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return DRIVER(cuMemcpyHtoDAsync)(address(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return DRIVER(cuMemcpyDtoHAsync)(to, address(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return DRIVER(cuMemcpyDtoDAsync)(address(to), address(from), bytes, stream);
    default: /* the driver determines the types of the addresses */
        return DRIVER(cuMemcpyAsync)(address(to), address(from), bytes, stream);
    }
}

static CUresult legacy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return DRIVER(cuMemcpyHtoD)(address(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return DRIVER(cuMemcpyDtoH)(to, address(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return DRIVER(cuMemcpyDtoD)(address(to), address(from), bytes);
    default:
        return DRIVER(cuMemcpy)(address(to), address(from), bytes);
    }
}

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream, enum copy_wait wait)
{
    READY();
    if ((unsigned)kind > cudaMemcpyDefault)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    if (bytes == 0)
        return cudaSuccess;
    return runtime_result(wait == COPY_LEGACY
                              ? legacy(to, from, bytes, kind)
                              : copy_done(queued(to, from, bytes, kind, stream), stream, wait));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy_bytes(dst, src, count, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy_ptds, (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
           copy_bytes(dst, src, count, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_bytes(dst, src, count, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpyAsync_ptsz,
           (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
           copy_bytes(dst, src, count, kind, runtime_per_thread(stream), COPY_QUEUED))
