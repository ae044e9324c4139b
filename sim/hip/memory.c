/* Allocation. */
#include "hip/hip.h"

#include <stdint.h>

/* Host memory flags of CUDA's driver. HIP's other flags concern caches and NUMA nodes. */
#define DRIVER_HOST_FLAGS (hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined)
#define HOST_FLAGS                                                                                           \
    (DRIVER_HOST_FLAGS | hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent)

_Static_assert(hipHostMallocPortable == CU_MEMHOSTALLOC_PORTABLE &&
                   hipHostMallocMapped == CU_MEMHOSTALLOC_DEVICEMAP &&
                   hipHostMallocWriteCombined == CU_MEMHOSTALLOC_WRITECOMBINED,
               "numbers are handed on as they are");
_Static_assert(hipHostRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE &&
                   hipHostRegisterMapped == CU_MEMHOSTREGISTER_DEVICEMAP &&
                   hipHostRegisterIoMemory == CU_MEMHOSTREGISTER_IOMEMORY &&
                   hipMemAttachGlobal == CU_MEM_ATTACH_GLOBAL && hipMemAttachHost == CU_MEM_ATTACH_HOST,
               "numbers are handed on as they are");

/* Checks for stream capture before the pointer, as CUDA's driver does and HIP's runtime since 6 (clr,
 * hip_memory.cpp: CHECK_STREAM_CAPTURE_SUPPORTED). */
hipError_t hipMalloc(void **ptr, size_t size)
{
    HIP_READY();
    return hip_result(ptr == NULL ? (unsigned)cuMemAlloc(NULL, size) : (unsigned)cudaMalloc(ptr, size));
}

hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags)
{
    if (flags != hipDeviceMallocDefault && flags != hipDeviceMallocFinegrained &&
        (flags != hipMallocSignalMemory || sizeBytes != 8))
        return hipErrorInvalidValue;
    return hipMalloc(ptr, sizeBytes);
}

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
    HIP_READY();
    if (ptr == NULL || (flags & ~HOST_FLAGS) != 0 ||
        (flags & (hipHostMallocCoherent | hipHostMallocNonCoherent)) ==
            (hipHostMallocCoherent | hipHostMallocNonCoherent))
        return hipErrorInvalidValue;
    *ptr = NULL;
    if (size == 0)
        return hipSuccess;
    return hip_result(cuMemHostAlloc(ptr, size, flags & DRIVER_HOST_FLAGS));
}

hipError_t hipHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return hipHostMalloc(ptr, size, flags);
}

hipError_t hipMallocHost(void **ptr, size_t size)
{
    return hipHostMalloc(ptr, size, hipHostMallocDefault);
}

hipError_t hipMemAllocHost(void **ptr, size_t size)
{
    return hipHostMalloc(ptr, size, hipHostMallocDefault);
}

/* hipFree also frees host memory, and hipHostFree device memory. */
static hipError_t free_any(void *ptr)
{
    HIP_READY();
    if (ptr == NULL)
        return hipSuccess;
    const CUresult result = cuMemFree(hip_address(ptr));
    return hip_result(result == CUDA_ERROR_INVALID_VALUE ? cuMemFreeHost(ptr) : result);
}

hipError_t hipFree(void *ptr)
{
    return free_any(ptr);
}

hipError_t hipHostFree(void *ptr)
{
    return free_any(ptr);
}

hipError_t hipFreeHost(void *ptr)
{
    return free_any(ptr);
}

hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags)
{
    HIP_READY();
    return hip_result(
        cuMemHostRegister(hostPtr, sizeBytes, flags & ~(unsigned)hipExtHostRegisterCoarseGrained));
}

hipError_t hipMemAllocPitch(hipDeviceptr_t *dptr, size_t *pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes)
{
    CUdeviceptr at = 0;
    HIP_READY();
    if (dptr == NULL || pitch == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuMemAllocPitch(&at, pitch, widthInBytes, height, elementSizeBytes);
    if (result == CUDA_SUCCESS)
        *dptr = (void *)(uintptr_t)at;
    return hip_result(result);
}

hipError_t hipMalloc3D(hipPitchedPtr *pitchedDevPtr, hipExtent extent)
{
    if (pitchedDevPtr == NULL)
        return hipErrorInvalidValue;
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return hipMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width,
                          extent.height * extent.depth);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr)
{
    CUdeviceptr base = 0;
    HIP_READY();
    const CUresult result = cuMemGetAddressRange(&base, psize, hip_address(dptr));
    if (result == CUDA_SUCCESS && pbase != NULL)
        *pbase = (void *)(uintptr_t)base;
    return hip_result(result);
}

hipError_t hipMemPtrGetInfo(void *ptr, size_t *size)
{
    HIP_READY();
    if (size == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuMemGetAddressRange(NULL, size, hip_address(ptr));
    return hip_result(result == CUDA_ERROR_NOT_FOUND ? CUDA_ERROR_INVALID_VALUE : result);
}
