/* Attributes of pools, and trimming. */
#include "driver/device/device.h"
#include "driver/memory/pool.h"

static CUresult set_amount(struct sim_pool *pool, CUmemPool_attribute attribute, unsigned long long value)
{
    /* "High watermark can only be reset to zero" (cuda.h): it then restarts at the current value. */
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->lock);
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->release_threshold = value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        pool->reserved_high = pool->used + pool->spare;
    else
        pool->used_high = pool->used;
    pthread_mutex_unlock(&pool->lock);
    return CUDA_SUCCESS;
}

static unsigned long long get_amount(struct sim_pool *pool, CUmemPool_attribute attribute)
{
    pthread_mutex_lock(&pool->lock);
    const unsigned long long amount = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? pool->release_threshold
                                      : attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
                                          ? pool->used + pool->spare
                                      : attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ? pool->reserved_high
                                      : attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT  ? pool->used
                                                                                       : pool->used_high;
    pthread_mutex_unlock(&pool->lock);
    return amount;
}

/* Attributes that return the pool's creation properties. */
static CUresult get_description(const struct sim_pool *pool, CUmemPool_attribute attribute, void *value)
{
#if CUDA_VERSION >= 13020
    const bool exportable = pool->descriptor >= 0 && !pool->imported;
    switch ((int)attribute) {
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE:
        *(CUmemAllocationType *)value = CU_MEM_ALLOCATION_TYPE_PINNED;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES:
        *(CUmemAllocationHandleType *)value =
            exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_LOCATION_ID:
        *(int *)value = SIM_DEVICE;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_LOCATION_TYPE:
        *(CUmemLocationType *)value = CU_MEM_LOCATION_TYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_MAX_POOL_SIZE:
        *(cuuint64_t *)value = pool->imported ? pool->bytes : pool->limit;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED:
        *(int *)value = 0;
        return CUDA_SUCCESS;
    default:
        break;
    }
#endif
#if CUDA_VERSION >= 13040
    if (attribute == CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID) {
        *(int *)value = -1;
        return CUDA_SUCCESS;
    }
#endif
    (void)pool;
    (void)attribute;
    (void)value;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_pool_find(pool);
    if (self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_pool_trim(self, minBytesToKeep);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, value);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_pool_find(pool);
    if (self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        atomic_store(&self->reuse[attr - 1], *(const int *)value);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return set_amount(self, attr, *(const cuuint64_t *)value);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, value);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_pool_find(pool);
    if (self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = atomic_load(&self->reuse[attr - 1]);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(cuuint64_t *)value = get_amount(self, attr);
        return CUDA_SUCCESS;
    default:
        return get_description(self, attr, value);
    }
}
