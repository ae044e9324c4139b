/* Default and current pools by device or location, and access to pools. */
#include "driver/device/device.h"
#include "driver/memory/pool.h"

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    const CUresult result = sim_pool_check(dev, pool_out);
    return result == CUDA_SUCCESS ? sim_pool_of_device(SIM_MEMORY_DEVICE, false, pool_out) : result;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    const CUresult result = sim_pool_check(dev, pool);
    return result == CUDA_SUCCESS ? sim_pool_of_device(SIM_MEMORY_DEVICE, true, pool) : result;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    const CUresult result = sim_pool_check(dev, pool);
    return result == CUDA_SUCCESS ? sim_pool_set_current(pool) : result;
}

#if CUDA_VERSION >= 13000
static enum sim_memory kind_at(const CUmemLocation *location, CUmemAllocationType type)
{
    return type == CU_MEM_ALLOCATION_TYPE_MANAGED             ? SIM_MEMORY_MANAGED
           : (int)location->type == CU_MEM_LOCATION_TYPE_HOST ? SIM_MEMORY_HOST
                                                              : SIM_MEMORY_DEVICE;
}

static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type, const void *out)
{
    CUresult result = sim_pool_check(SIM_DEVICE, out);
    if (result != CUDA_SUCCESS)
        return result;
    if (location == NULL || (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (location->id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_DEVICE;
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED;
    case CU_MEM_LOCATION_TYPE_INVALID: /* no location, which is valid for managed pools */
        return type == CU_MEM_ALLOCATION_TYPE_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    const CUresult result = check_location(location, type, pool_out);
    return result == CUDA_SUCCESS ? sim_pool_of_device(kind_at(location, type), false, pool_out) : result;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    const CUresult result = check_location(location, type, pool);
    return result == CUDA_SUCCESS ? sim_pool_of_device(kind_at(location, type), true, pool) : result;
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result = check_location(location, type, pool);
    const struct sim_pool *known = sim_pool_find(pool);
    if (result == CUDA_SUCCESS && known != NULL && known->kind != kind_at(location, type))
        result = CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? sim_pool_set_current(pool) : result;
}
#endif

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, map);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_pool_find(pool) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if ((int)map[i].location.type == CU_MEM_LOCATION_TYPE_HOST)
            continue;
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (map[i].location.id != SIM_DEVICE || map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_DEVICE; /* a device always has access to its own pool */
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, flags);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_pool_find(memPool) == NULL || location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const bool here = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == SIM_DEVICE;
    *flags = here ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
