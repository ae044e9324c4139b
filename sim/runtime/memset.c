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

/* A fill of a box is a fill of rows if no rows lie between its slices. */
static cudaError_t fill_box(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                            cudaStream_t stream, bool waits)
{
    const bool dense = extent.height == to.ysize || extent.depth <= 1;
    const size_t slices = dense ? 1 : extent.depth;
    size_t rows = extent.height;
    size_t step;
    READY();
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return cudaSuccess;
    if ((!dense && extent.height > to.ysize) || __builtin_mul_overflow(to.pitch, to.ysize, &step) ||
        (dense && __builtin_mul_overflow(extent.height, extent.depth, &rows)))
        return runtime_error(cudaErrorInvalidValue);
    for (size_t z = 0; z < slices; z++) {
        char *slice = (char *)to.ptr + z * step;
        const cudaError_t error = waits
                                      ? cudaMemset2D(slice, to.pitch, value, extent.width, rows)
                                      : cudaMemset2DAsync(slice, to.pitch, value, extent.width, rows, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    return fill_box(pitchedDevPtr, value, extent, NULL, true);
}

PER_THREAD(cudaMemset3D_ptds, (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent),
           fill_box(pitchedDevPtr, value, extent, cudaStreamPerThread, false))

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    return fill_box(pitchedDevPtr, value, extent, stream, false);
}

PER_THREAD(cudaMemset3DAsync_ptsz,
           (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent, cudaStream_t stream),
           fill_box(pitchedDevPtr, value, extent, runtime_per_thread(stream), false))
