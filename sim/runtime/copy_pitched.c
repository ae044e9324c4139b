/* Copies of rows with pitch. */
#include "runtime/copy.h"

#include <stdint.h>

struct copy_sides copy_sides_of(enum cudaMemcpyKind kind)
{
    static const struct copy_sides sides[] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    return sides[kind];
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind, cudaStream_t stream,
                             enum copy_wait wait)
{
    READY();
    if ((unsigned)kind > cudaMemcpyDefault)
        return runtime_error(cudaErrorInvalidMemcpyDirection);
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > to_pitch || width > from_pitch)
        return runtime_error(cudaErrorInvalidPitchValue);
    const CUDA_MEMCPY2D copy = {
        /* The driver reads the pointer that matches the type: host, or device for device and unified. */
        .srcMemoryType = copy_sides_of(kind).from,
        .srcHost = from,
        .srcDevice = (CUdeviceptr)(uintptr_t)from,
        .srcPitch = from_pitch,
        .dstMemoryType = copy_sides_of(kind).to,
        .dstHost = to,
        .dstDevice = (CUdeviceptr)(uintptr_t)to,
        .dstPitch = to_pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return runtime_result(wait == COPY_LEGACY
                              ? DRIVER(cuMemcpy2DUnaligned)(&copy)
                              : copy_done(DRIVER(cuMemcpy2DAsync)(&copy, stream), stream, wait));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    return copy_rows(dst, dpitch, src, spitch, width, height, kind, NULL, COPY_LEGACY);
}

PER_THREAD(cudaMemcpy2D_ptds,
           (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
            enum cudaMemcpyKind kind),
           copy_rows(dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread, COPY_WAITED))

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rows(dst, dpitch, src, spitch, width, height, kind, stream, COPY_QUEUED);
}

PER_THREAD(cudaMemcpy2DAsync_ptsz,
           (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           copy_rows(dst, dpitch, src, spitch, width, height, kind, runtime_per_thread(stream), COPY_QUEUED))
