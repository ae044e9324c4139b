/* Virtual memory. Libraries before 5.5 export these functions and refuse every call (801). */
#include "hip/driver/hip.h"

#include <stddef.h>
#include <string.h>

/* hipMemAllocationProp of 5.2. Newer releases have CUDA's layout. */
struct old_properties {
    unsigned char compression;
    hipMemLocation location;
    hipMemAllocationHandleType handle_type;
    hipMemAllocationType type;
    unsigned short usage;
    void *metadata;
};

_Static_assert(sizeof(hipMemLocation) == sizeof(CUmemLocation) &&
                   sizeof(hipMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                   offsetof(hipMemAccessDesc, flags) == offsetof(CUmemAccessDesc, flags),
               "HIP took these structures from the driver");

static bool is_old(void)
{
    return nb_hip_version() < 503;
}

/* The properties in the layout that this library reads. */
static const hipMemAllocationProp *properties_of(const CUmemAllocationProp *from, struct old_properties *old)
{
    if (!is_old())
        return (const void *)from;
    *old = (struct old_properties){.compression = from->allocFlags.compressionType,
                                   .location = {(hipMemLocationType)from->location.type, from->location.id},
                                   .handle_type = (hipMemAllocationHandleType)from->requestedHandleTypes,
                                   .type = (hipMemAllocationType)from->type,
                                   .usage = from->allocFlags.usage,
                                   .metadata = from->win32HandleMetaData};
    return (const void *)old;
}

static hipMemGenericAllocationHandle_t handle_of(CUmemGenericAllocationHandle handle)
{
    return (hipMemGenericAllocationHandle_t)(uintptr_t)handle;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    struct old_properties old;
    hipMemGenericAllocationHandle_t made = NULL;
    if (prop == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = nb_hip_result(
        HIP(hipMemCreate)(handle != NULL ? &made : NULL, size, properties_of(prop, &old), flags));
    if (result == CUDA_SUCCESS && handle != NULL)
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)made;
    return result;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    struct old_properties old;
    if (prop == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return nb_hip_result(HIP(hipMemGetAllocationGranularity)(granularity, properties_of(prop, &old),
                                                             (hipMemAllocationGranularity_flags)option));
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    struct old_properties old;
    memset(prop, 0, sizeof *prop);
    if (!is_old())
        return nb_hip_result(HIP(hipMemGetAllocationPropertiesFromHandle)((void *)prop, handle_of(handle)));
    const CUresult result =
        nb_hip_result(HIP(hipMemGetAllocationPropertiesFromHandle)((void *)&old, handle_of(handle)));
    if (result == CUDA_SUCCESS) {
        prop->type = (CUmemAllocationType)old.type;
        prop->requestedHandleTypes = (CUmemAllocationHandleType)old.handle_type;
        prop->location.type = (CUmemLocationType)old.location.type;
        prop->location.id = old.location.id;
        prop->win32HandleMetaData = old.metadata;
        prop->allocFlags.compressionType = old.compression;
        prop->allocFlags.usage = old.usage;
    }
    return result;
}
