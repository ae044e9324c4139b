/* Physical memory: a memfd, which can be mapped at several addresses and by several processes. */
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/memory/heap.h"
#include "driver/memory/memory.h"
#include "driver/memory/shareable.h"
#include "driver/memory/vmm.h"

#include <stdlib.h>
#include <unistd.h>

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (granularity == NULL || prop == NULL || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && prop->location.id != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    *granularity = SIM_GRANULARITY;
    return CUDA_SUCCESS;
}

static void dispose(struct sim_object *object)
{
    struct sim_physical *physical = (struct sim_physical *)object;
    close(physical->descriptor);
    if (!physical->imported)
        sim_heap_refund(physical->bytes);
    free(physical);
}

/* Takes the descriptor. */
static CUresult publish(int descriptor, size_t bytes, const CUmemAllocationProp *properties, bool imported,
                        CUmemGenericAllocationHandle *handle)
{
    struct sim_physical *physical = calloc(1, sizeof(*physical));
    if (physical == NULL) {
        close(descriptor);
        if (!imported)
            sim_heap_refund(bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&physical->object, SIM_PHYSICAL, NULL, dispose);
    physical->properties = *properties;
    physical->id = sim_range_new_id();
    physical->bytes = bytes;
    physical->handles = 1;
    physical->descriptor = descriptor;
    physical->imported = imported;
    if (!sim_object_publish(physical)) {
        sim_object_release(physical);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
    return CUDA_SUCCESS;
}

static CUresult check_properties(const CUmemAllocationProp *prop)
{
    const unsigned kinds = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                           CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    const unsigned wanted = (unsigned)prop->requestedHandleTypes;
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || (wanted & ~kinds) != 0 ||
        prop->win32HandleMetaData != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (prop->location.id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_DEVICE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST: /* "requestedHandleTypes must be 0" (cuda.h) */
        return wanted != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return (wanted & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                                               : CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || prop == NULL || size == 0 || !sim_is_granular(size) || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_properties(prop);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_heap_charge(size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const int descriptor = sim_shareable_make(SIM_SHAREABLE_ALLOCATION, size);
    if (descriptor < 0) {
        sim_heap_refund(size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return publish(descriptor, size, prop, false, handle);
}

struct sim_physical *sim_physical_find(CUmemGenericAllocationHandle handle)
{
    return sim_object_find((const void *)(uintptr_t)handle, SIM_PHYSICAL);
}

/* The result is a descriptor of the program, which its child processes inherit. */
CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_physical *physical = sim_physical_find(handle);
    if (shareableHandle == NULL || physical == NULL || flags != 0 ||
        (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && handleType != CU_MEM_HANDLE_TYPE_WIN32 &&
         handleType != CU_MEM_HANDLE_TYPE_WIN32_KMT && handleType != CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_ERROR_INVALID_VALUE;
    if (((unsigned)physical->properties.requestedHandleTypes & (unsigned)handleType) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const int descriptor = dup(physical->descriptor);
    if (descriptor < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)shareableHandle = descriptor;
    return CUDA_SUCCESS;
}

/* The program keeps its descriptor, which is passed as the pointer itself. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    size_t bytes;
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return shHandleType == CU_MEM_HANDLE_TYPE_WIN32 || shHandleType == CU_MEM_HANDLE_TYPE_WIN32_KMT ||
                       shHandleType == CU_MEM_HANDLE_TYPE_FABRIC
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
    const int descriptor = sim_shareable_open((int)(intptr_t)osHandle, SIM_SHAREABLE_ALLOCATION, &bytes);
    if (descriptor < 0)
        return CUDA_ERROR_INVALID_VALUE;
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = SIM_DEVICE}};
    return publish(descriptor, bytes, &properties, true, handle);
}

/* The handle stays valid while references of cuMemRetainAllocationHandle exist. Mappings hold separate
 * references. */
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&sim_vmm_lock);
    struct sim_physical *physical = sim_physical_find(handle);
    const bool last = physical != NULL && --physical->handles == 0;
    if (last)
        (void)sim_object_withdraw(physical, SIM_PHYSICAL);
    pthread_mutex_unlock(&sim_vmm_lock);
    if (last)
        sim_object_release(physical);
    return physical == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    struct sim_range range;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_vmm_lock);
    if (!sim_range_find((uint64_t)(uintptr_t)addr, &range) || range.kind != SIM_MEMORY_MAPPED) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (range.physical->handles == 0 && !sim_object_publish(range.physical)) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        if (range.physical->handles++ == 0)
            sim_object_retain(range.physical);
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)range.physical;
    }
    pthread_mutex_unlock(&sim_vmm_lock);
    return result;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_physical *physical = sim_physical_find(handle);
    if (physical == NULL || prop == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->properties;
    return CUDA_SUCCESS;
}
