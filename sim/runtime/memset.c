/* Memset. */
#include "runtime/cudart.h"

#include <stdint.h>

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    READY();
    return count == 0 ? cudaSuccess
                      : runtime_result(DRIVER(cuMemsetD8)(address(devPtr), (unsigned char)value, count));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    READY();
    return count == 0 ? cudaSuccess
                      : runtime_result(
                            DRIVER(cuMemsetD8Async)(address(devPtr), (unsigned char)value, count, stream));
}

PER_THREAD(cudaMemset_ptds, (void *devPtr, int value, size_t count),
           cudaMemsetAsync(devPtr, value, count, cudaStreamPerThread))
PER_THREAD(cudaMemsetAsync_ptsz, (void *devPtr, int value, size_t count, cudaStream_t stream),
           cudaMemsetAsync(devPtr, value, count, runtime_per_thread(stream)))

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    READY();
    if (width == 0 || height == 0)
        return cudaSuccess;
    return runtime_result(DRIVER(cuMemsetD2D8)(address(devPtr), pitch, (unsigned char)value, width, height));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    READY();
    if (width == 0 || height == 0)
        return cudaSuccess;
    return runtime_result(
        DRIVER(cuMemsetD2D8Async)(address(devPtr), pitch, (unsigned char)value, width, height, stream));
}

PER_THREAD(cudaMemset2D_ptds, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
           cudaMemset2DAsync(devPtr, pitch, value, width, height, cudaStreamPerThread))
PER_THREAD(cudaMemset2DAsync_ptsz,
           (void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
           cudaMemset2DAsync(devPtr, pitch, value, width, height, runtime_per_thread(stream)))
