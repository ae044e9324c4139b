/* Prefetches and advice for managed memory. */
#include "runtime/cudart.h"

#include <stdint.h>
#include <string.h>

static CUmemLocation place(struct cudaMemLocation location)
{
    CUmemLocation same;
    _Static_assert(sizeof same == sizeof location, "passed on unchanged");
    memcpy(&same, &location, sizeof same);
    return same;
}

FORWARD_STREAM(cudaMemPrefetchAsync,
               (const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                cudaStream_t stream),
               cuMemPrefetchAsync, (CUdeviceptr)devPtr, count, place(location), flags, stream)
FORWARD(cudaMemAdvise,
        (const void *devPtr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location),
        cuMemAdvise, (CUdeviceptr)devPtr, count, (CUmem_advise)advice, place(location))

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    CUmemorytype type = 0;
    CUdeviceptr device = 0;
    void *host = NULL;
    int managed = 0, ordinal = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                    CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &device, &host, &managed, &ordinal};
    READY();
    if (attributes == NULL)
        return runtime_error(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                                 .device = cudaInvalidDeviceId,
                                                 .hostPointer = (void *)(uintptr_t)ptr};
    const CUresult result =
        DRIVER(cuPointerGetAttributes)(sizeof wanted / sizeof *wanted, wanted, values, (CUdeviceptr)ptr);
    if (result == CUDA_ERROR_INVALID_VALUE || (result == CUDA_SUCCESS && type == 0))
        return cudaSuccess; /* host memory that is not registered */
    if (result == CUDA_SUCCESS) {
        attributes->type = managed                      ? cudaMemoryTypeManaged
                           : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                        : cudaMemoryTypeDevice;
        attributes->device = ordinal;
        attributes->devicePointer = (void *)(uintptr_t)device;
        attributes->hostPointer = host;
    }
    return runtime_result(result);
}
