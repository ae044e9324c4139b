#include "pool.h"

#include "context.h"
#include "device.h"
#include "graph_memory.h"
#include "memory.h"
#include "state.h"
#include "stream.h"

#include <stdatomic.h>
#include <stdlib.h>

struct sim_pool {
    struct sim_object object; /* an allocation holds a reference */
    size_t limit;             /* bytes; 0: the device's */
    atomic_int reuse[3];
    atomic_ullong release_threshold;
    atomic_ullong used;
    atomic_ullong used_high;
};

static struct {
    pthread_mutex_t lock;
    struct sim_pool *standard;
    struct sim_pool *current;
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void dispose(struct sim_object *object)
{
    free(object);
}

static struct sim_pool *make(size_t limit)
{
    struct sim_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL)
        return NULL;
    sim_object_init(&pool->object, SIM_POOL, NULL, dispose);
    pool->limit = limit;
    for (size_t i = 0; i < 3; i++)
        atomic_store(&pool->reuse[i], 1);
    if (!sim_object_publish(pool)) {
        free(pool);
        return NULL;
    }
    return pool;
}

static CUresult standard_pool(bool current, CUmemoryPool *pool)
{
    pthread_mutex_lock(&pools.lock);
    if (pools.standard == NULL)
        pools.current = pools.standard = make(0);
    *pool = (CUmemoryPool)(current ? pools.current : pools.standard);
    pthread_mutex_unlock(&pools.lock);
    return *pool == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

void sim_pool_gave_back(struct sim_pool *pool, size_t bytes)
{
    atomic_fetch_sub(&pool->used, bytes);
    sim_object_release(pool);
}

static CUresult check(CUdevice dev, const void *out)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return dev == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    const CUresult result = check(dev, pool_out);
    return result == CUDA_SUCCESS ? standard_pool(false, pool_out) : result;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    const CUresult result = check(dev, pool);
    return result == CUDA_SUCCESS ? standard_pool(true, pool) : result;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    const CUresult result = check(dev, pool);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *chosen = sim_object_find(pool, SIM_POOL);
    if (chosen == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    pools.current = chosen;
    pthread_mutex_unlock(&pools.lock);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    const CUresult result = check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (poolProps == NULL || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (poolProps->location.id != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_pool *made = make(poolProps->maxSize);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    const CUresult result = check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&pools.lock);
    const bool standard = (struct sim_pool *)pool == pools.standard;
    if ((struct sim_pool *)pool == pools.current)
        pools.current = pools.standard;
    pthread_mutex_unlock(&pools.lock);
    if (standard || !sim_object_withdraw(pool, SIM_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_release(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep; /* nothing is kept beyond what is in use */
    const CUresult result = check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    return sim_object_find(pool, SIM_POOL) == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    const CUresult result = check(SIM_DEVICE, value);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_object_find(pool, SIM_POOL);
    if (self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        atomic_store(&self->reuse[attr - 1], *(const int *)value);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        atomic_store(&self->release_threshold, *(const cuuint64_t *)value);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*(const cuuint64_t *)value != 0)
            return CUDA_ERROR_INVALID_VALUE;
        atomic_store(&self->used_high, atomic_load(&self->used));
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    const CUresult result = check(SIM_DEVICE, value);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *self = sim_object_find(pool, SIM_POOL);
    if (self == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = atomic_load(&self->reuse[attr - 1]);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = atomic_load(&self->release_threshold);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *(cuuint64_t *)value = atomic_load(&self->used);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(cuuint64_t *)value = atomic_load(&self->used_high);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    const CUresult result = check(SIM_DEVICE, map);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_object_find(pool, SIM_POOL) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (map[i].location.id != SIM_DEVICE || map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_DEVICE; /* a device always has its own pool */
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    const CUresult result = check(SIM_DEVICE, flags);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_object_find(memPool, SIM_POOL) == NULL || location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const bool here = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == SIM_DEVICE;
    *flags = here ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *dptr, size_t bytes, CUmemoryPool handle, CUstream hStream,
                         bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle == NULL)
        result = standard_pool(true, &handle);
    struct sim_pool *pool = sim_object_find(handle, SIM_POOL);
    if (result != CUDA_SUCCESS || pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_stream_is_capturing(stream))
        return sim_graph_memory_capture(stream, bytes, dptr);
    if (bytes == 0) {
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    const unsigned long long used = atomic_fetch_add(&pool->used, bytes) + bytes;
    const bool fits = pool->limit == 0 || used <= pool->limit;
    const uint64_t address = fits ? sim_memory_allocate(SIM_MEMORY_DEVICE, bytes, 0, NULL, pool) : 0;
    if (address == 0) {
        atomic_fetch_sub(&pool->used, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_retain(pool);
    unsigned long long high = atomic_load(&pool->used_high);
    while (high < used && !atomic_compare_exchange_weak(&pool->used_high, &high, used))
        ;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, false);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, true);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return pool == NULL ? CUDA_ERROR_INVALID_VALUE : allocate(dptr, bytesize, pool, hStream, false);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return pool == NULL ? CUDA_ERROR_INVALID_VALUE : allocate(dptr, bytesize, pool, hStream, true);
}

static CUresult free_later(CUdeviceptr dptr, CUstream hStream, bool per_thread)
{
    struct sim_context *context;
    struct sim_stream *stream;
    struct sim_range range;
    CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_resolve(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS || dptr == 0)
        return result;
    if (sim_graph_memory_free(dptr, stream, &result))
        return result;
    if (!sim_range_find(dptr, &range) || range.begin != dptr || range.kind != SIM_MEMORY_DEVICE ||
        sim_stream_is_capturing(stream)) /* a graph frees only what a graph has allocated */
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work = {.kind = SIM_WORK_FREE, .freed = dptr};
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return free_later(dptr, hStream, false);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
    return free_later(dptr, hStream, true);
}
