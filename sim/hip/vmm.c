/* Virtual memory: reserved addresses and physical memory. HIP 5.2 orders the properties' fields differently.
 */
#include "hip/hip.h"

_Static_assert(sizeof(hipMemGenericAllocationHandle_t) == sizeof(CUmemGenericAllocationHandle),
               "handed on as they are");

static CUmemAllocationProp to_driver(const hipMemAllocationProp *from)
{
    return (CUmemAllocationProp){
        .type = (CUmemAllocationType)from->type,
        .requestedHandleTypes = (CUmemAllocationHandleType)from->requestedHandleType,
        .location = {.type = (CUmemLocationType)from->location.type, .id = from->location.id},
        .win32HandleMetaData = from->win32HandleMetaData,
        .allocFlags = {.compressionType = from->compressionType, .usage = from->usage}};
}

static CUmemGenericAllocationHandle handle_of(hipMemGenericAllocationHandle_t handle)
{
    return (CUmemGenericAllocationHandle)(uintptr_t)handle;
}

/* Stores the handle if the call succeeded. */
static hipError_t made(CUresult result, const CUmemGenericAllocationHandle *handle,
                       hipMemGenericAllocationHandle_t *to)
{
    if (result == CUDA_SUCCESS)
        *to = (hipMemGenericAllocationHandle_t)(uintptr_t)*handle;
    return hip_result(result);
}

hipError_t hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr,
                                unsigned long long flags)
{
    CUdeviceptr at = 0;
    HIP_READY();
    if (ptr == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuMemAddressReserve(&at, size, alignment, hip_address(addr), flags);
    if (result == CUDA_SUCCESS)
        *ptr = (void *)(uintptr_t)at;
    return hip_result(result);
}

hipError_t hipMemAddressFree(void *devPtr, size_t size)
{
    HIP_READY();
    return hip_result(cuMemAddressFree(hip_address(devPtr), size));
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
                        const hipMemAllocationProp *prop, unsigned long long flags)
{
    CUmemGenericAllocationHandle created = 0;
    HIP_READY();
    if (handle == NULL || prop == NULL)
        return hipErrorInvalidValue;
    const CUmemAllocationProp properties = to_driver(prop);
    return made(cuMemCreate(&created, size, &properties, flags), &created, handle);
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
    HIP_READY();
    return hip_result(cuMemRelease(handle_of(handle)));
}

hipError_t hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags)
{
    HIP_READY();
    return hip_result(cuMemMap(hip_address(ptr), size, offset, handle_of(handle), flags));
}

hipError_t hipMemUnmap(void *ptr, size_t size)
{
    HIP_READY();
    return hip_result(cuMemUnmap(hip_address(ptr), size));
}

hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count)
{
    HIP_READY();
    return hip_result(
        cuMemSetAccess(hip_address(ptr), size, (const CUmemAccessDesc *)(const void *)desc, count));
}

hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr)
{
    HIP_READY();
    return hip_result(cuMemGetAccess(flags, (const CUmemLocation *)(const void *)location, hip_address(ptr)));
}

hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
                                          hipMemAllocationGranularity_flags option)
{
    HIP_READY();
    if (prop == NULL)
        return hipErrorInvalidValue;
    const CUmemAllocationProp properties = to_driver(prop);
    return hip_result(
        cuMemGetAllocationGranularity(granularity, &properties, (CUmemAllocationGranularity_flags)option));
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                                   hipMemGenericAllocationHandle_t handle)
{
    CUmemAllocationProp found;
    HIP_READY();
    if (prop == NULL)
        return hipErrorInvalidValue;
    const CUresult result = cuMemGetAllocationPropertiesFromHandle(&found, handle_of(handle));
    if (result == CUDA_SUCCESS)
        *prop = (hipMemAllocationProp){
            .compressionType = found.allocFlags.compressionType,
            .location = {.type = (hipMemLocationType)found.location.type, .id = found.location.id},
            .requestedHandleType = (hipMemAllocationHandleType)found.requestedHandleTypes,
            .type = (hipMemAllocationType)found.type,
            .usage = found.allocFlags.usage,
            .win32HandleMetaData = found.win32HandleMetaData};
    return hip_result(result);
}

hipError_t hipMemExportToShareableHandle(void *shareableHandle, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType handleType, unsigned long long flags)
{
    HIP_READY();
    return hip_result(cuMemExportToShareableHandle(shareableHandle, handle_of(handle),
                                                   (CUmemAllocationHandleType)handleType, flags));
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *osHandle,
                                           hipMemAllocationHandleType shHandleType)
{
    CUmemGenericAllocationHandle imported = 0;
    HIP_READY();
    if (handle == NULL)
        return hipErrorInvalidValue;
    return made(cuMemImportFromShareableHandle(&imported, osHandle, (CUmemAllocationHandleType)shHandleType),
                &imported, handle);
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr)
{
    CUmemGenericAllocationHandle retained = 0;
    HIP_READY();
    if (handle == NULL)
        return hipErrorInvalidValue;
    return made(cuMemRetainAllocationHandle(&retained, addr), &retained, handle);
}
