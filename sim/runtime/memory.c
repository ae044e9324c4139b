/* Allocation of memory. */
#include "runtime/cudart.h"

#include <stdint.h>

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* `at` is a pointer because the call that sets it is another argument. */
static cudaError_t allocated(CUresult result, const CUdeviceptr *at, void **out)
{
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)*at;
    return runtime_result(result);
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    CUdeviceptr at = 0;
    READY();
    if (devPtr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    /* cuMemAlloc refuses 0 bytes; the runtime returns NULL. */
    return allocated(size == 0 ? CUDA_SUCCESS : DRIVER(cuMemAlloc)(&at, size), &at, devPtr);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr at = 0;
    READY();
    if (devPtr == NULL || pitch == NULL)
        return runtime_error(cudaErrorInvalidValue);
    *pitch = 0;
    return allocated(width == 0 || height == 0 ? CUDA_SUCCESS
                                               : DRIVER(cuMemAllocPitch)(&at, pitch, width, height, 4),
                     &at, devPtr);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    if (pitchedDevPtr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width,
                           extent.height * extent.depth);
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CUdeviceptr at = 0;
    READY();
    if (devPtr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return allocated(DRIVER(cuMemAllocManaged)(&at, size, flags), &at, devPtr);
}

cudaError_t cudaFree(void *devPtr)
{
    READY();
    return devPtr == NULL ? cudaSuccess : runtime_result(DRIVER(cuMemFree)(address(devPtr)));
}

FORWARD(cudaHostAlloc, (void **pHost, size_t size, unsigned int flags), cuMemHostAlloc, pHost, size, flags)
FORWARD(cudaMallocHost, (void **ptr, size_t size), cuMemHostAlloc, ptr, size, 0)
FORWARD(cudaHostRegister, (void *ptr, size_t size, unsigned int flags), cuMemHostRegister, ptr, size, flags)
FORWARD(cudaHostUnregister, (void *ptr), cuMemHostUnregister, ptr)
FORWARD(cudaHostGetFlags, (unsigned int *pFlags, void *pHost), cuMemHostGetFlags, pFlags, pHost)
FORWARD(cudaMemGetInfo, (size_t *free, size_t *total), cuMemGetInfo, free, total)

cudaError_t cudaFreeHost(void *ptr)
{
    READY();
    return ptr == NULL ? cudaSuccess : runtime_result(DRIVER(cuMemFreeHost)(ptr));
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CUdeviceptr at = 0;
    READY();
    if (pDevice == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return allocated(DRIVER(cuMemHostGetDevicePointer)(&at, pHost, flags), &at, pDevice);
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    CUdeviceptr at = 0;
    READY();
    if (devPtr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return allocated(size == 0 ? CUDA_SUCCESS : DRIVER(cuMemAllocAsync)(&at, size, hStream), &at, devPtr);
}

PER_THREAD(cudaMallocAsync_ptsz, (void **devPtr, size_t size, cudaStream_t stream),
           cudaMallocAsync(devPtr, size, runtime_per_thread(stream)))

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    CUdeviceptr at = 0;
    READY();
    if (ptr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    return allocated(DRIVER(cuMemAllocFromPoolAsync)(&at, size, memPool, stream), &at, ptr);
}

PER_THREAD(cudaMallocFromPoolAsync_ptsz,
           (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
           cudaMallocFromPoolAsync(ptr, size, memPool, runtime_per_thread(stream)))

FORWARD_STREAM(cudaFreeAsync, (void *devPtr, cudaStream_t stream), cuMemFreeAsync, address(devPtr), stream)
