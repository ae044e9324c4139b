#include "driver/memory/pool.h"

#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/graph/memory.h"
#include "driver/memory/heap.h"
#include "driver/memory/memory.h"
#include "driver/memory/shareable.h"
#include "driver/core/state.h"
#include "driver/stream/stream.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALLOCATION_MANAGED = 2 }; /* CU_MEM_ALLOCATION_TYPE_MANAGED, which headers have from 13.0 on */

static struct {
    pthread_mutex_t lock;
    struct {
        struct sim_pool *standard;
        struct sim_pool *current;
    } of[3]; /* device, managed and host memory */
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void dispose(struct sim_object *object)
{
    struct sim_pool *pool = (struct sim_pool *)object;
    sim_heap_refund(pool->kept);
    if (pool->base != 0)
        munmap((void *)(uintptr_t)pool->base, pool->bytes);
    if (pool->descriptor >= 0)
        close(pool->descriptor);
    sim_extents_end(&pool->extents);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Takes the descriptor. */
static struct sim_pool *make(size_t limit, int descriptor, size_t bytes, bool imported)
{
    struct sim_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    sim_object_init(&pool->object, SIM_POOL, NULL, dispose);
    pthread_mutex_init(&pool->lock, NULL);
    pool->limit = limit;
    pool->descriptor = descriptor;
    pool->bytes = bytes;
    pool->imported = imported;
    for (size_t i = 0; i < 3; i++)
        atomic_store(&pool->reuse[i], 1);
    bool ready = true;
    if (descriptor >= 0) {
        void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
        pool->base = base == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)base;
        ready = pool->base != 0 && sim_extents_start(&pool->extents, pool->base, pool->base + bytes);
        if (ready)
            (void)madvise(base, bytes, MADV_DONTFORK); /* a forked child has no device memory */
    }
    if (!ready || !sim_object_publish(pool)) {
        sim_object_release(pool);
        return NULL;
    }
    return pool;
}

struct sim_pool *sim_pool_make(size_t limit, enum sim_memory kind, bool shareable)
{
    if (!shareable) {
        struct sim_pool *pool = make(limit, -1, 0, false);
        if (pool != NULL)
            pool->kind = kind;
        return pool;
    }
    const size_t page = 4096;
    const size_t bytes =
        limit != 0 && limit < sim_device_memory() ? (limit + page - 1) / page * page : sim_device_memory();
    const int descriptor = sim_shareable_make(SIM_SHAREABLE_POOL, bytes);
    return descriptor < 0 ? NULL : make(limit, descriptor, bytes, false);
}

struct sim_pool *sim_pool_make_imported(int descriptor, size_t bytes)
{
    return make(0, descriptor, bytes, true);
}

struct sim_pool *sim_pool_find(CUmemoryPool handle)
{
    return sim_object_find(handle, SIM_POOL);
}

static size_t place_of(enum sim_memory kind)
{
    return kind == SIM_MEMORY_DEVICE ? 0 : kind == SIM_MEMORY_MANAGED ? 1 : 2;
}

CUresult sim_pool_of_device(enum sim_memory kind, bool current, CUmemoryPool *pool)
{
    const size_t place = place_of(kind);
    pthread_mutex_lock(&pools.lock);
    if (pools.of[place].standard == NULL)
        pools.of[place].current = pools.of[place].standard = sim_pool_make(0, kind, false);
    *pool = (CUmemoryPool)(current ? pools.of[place].current : pools.of[place].standard);
    pthread_mutex_unlock(&pools.lock);
    return *pool == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult sim_pool_set_current(CUmemoryPool pool)
{
    struct sim_pool *chosen = sim_pool_find(pool);
    if (chosen == NULL || chosen->imported)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    pools.of[place_of(chosen->kind)].current = chosen;
    pthread_mutex_unlock(&pools.lock);
    return CUDA_SUCCESS;
}

/* Under the pool's lock: keep no more than that beyond what is used. */
static void keep_at_most(struct sim_pool *pool, unsigned long long bytes)
{
    if (pool->kept > bytes) {
        sim_heap_refund(pool->kept - bytes);
        pool->kept = bytes;
    }
}

void sim_pool_trim(struct sim_pool *pool, unsigned long long bytes)
{
    pthread_mutex_lock(&pool->lock);
    keep_at_most(pool, bytes > pool->used ? bytes - pool->used : 0);
    pthread_mutex_unlock(&pool->lock);
}

/* The memory itself, in the heap or the pool's own. */
static uint64_t take(struct sim_pool *pool, size_t bytes)
{
    if (pool->descriptor < 0)
        return sim_memory_allocate(pool->kind, bytes,
                                   pool->kind == SIM_MEMORY_MANAGED ? CU_MEM_ATTACH_GLOBAL : 0, NULL, pool);
    const size_t size = sim_extents_rounded(bytes);
    if (size < bytes || !sim_heap_charge(size))
        return 0;
    const uint64_t address = sim_extents_take(&pool->extents, size);
    const struct sim_range range = {.begin = address,
                                    .end = address + bytes,
                                    .kind = SIM_MEMORY_DEVICE,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .pool = pool};
    if (address != 0 && sim_range_add(&range))
        return address;
    if (address != 0)
        sim_extents_give(&pool->extents, address, size);
    sim_heap_refund(size);
    return 0;
}

/* Under the pool's lock. What it keeps is used up first, and given up if the device has no more. */
static uint64_t take_kept_first(struct sim_pool *pool, size_t bytes)
{
    const unsigned long long before = pool->kept;
    keep_at_most(pool, before > bytes ? before - bytes : 0);
    const uint64_t address = take(pool, bytes);
    if (address != 0 || pool->kept == 0)
        return address;
    keep_at_most(pool, 0);
    return take(pool, bytes);
}

static uint64_t take_counted(struct sim_pool *pool, size_t bytes)
{
    uint64_t address = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->limit == 0 || (bytes <= pool->limit && pool->used <= pool->limit - bytes))
        address = take_kept_first(pool, bytes);
    if (address != 0) {
        pool->used += bytes;
        if (pool->used > pool->used_high)
            pool->used_high = pool->used;
        if (pool->used + pool->kept > pool->reserved_high)
            pool->reserved_high = pool->used + pool->kept;
        sim_object_retain(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return address;
}

void sim_pool_gave_back(struct sim_pool *pool, const struct sim_range *range)
{
    const size_t bytes = range->end - range->begin;
    const size_t size = sim_extents_rounded(bytes);
    if (!pool->imported) {
        pthread_mutex_lock(&pool->lock);
        if (pool->descriptor >= 0) {
            sim_extents_give(&pool->extents, range->begin, size);
            sim_heap_refund(size);
        } else {
            sim_heap_free(range->begin, bytes);
        }
        pool->used -= bytes;
        const unsigned long long may_keep =
            pool->release_threshold > pool->used ? pool->release_threshold - pool->used : 0;
        if (pool->kept + bytes <= may_keep && sim_heap_charge(bytes))
            pool->kept += bytes;
        else
            keep_at_most(pool, may_keep);
        pthread_mutex_unlock(&pool->lock);
    }
    sim_object_release(pool);
}

CUresult sim_pool_check(CUdevice device, const void *out)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return device == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static enum sim_memory kind_of(const CUmemPoolProps *properties)
{
    return (int)properties->allocType == ALLOCATION_MANAGED              ? SIM_MEMORY_MANAGED
           : (int)properties->location.type == CU_MEM_LOCATION_TYPE_HOST ? SIM_MEMORY_HOST
                                                                         : SIM_MEMORY_DEVICE;
}

/* What a pool may be: of the device's memory, of the host's, or (from 13.0 on) of managed memory. */
static CUresult check_properties(const CUmemPoolProps *properties)
{
    const unsigned kinds = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                           CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
    const unsigned wanted = (unsigned)properties->handleTypes;
    if ((wanted & ~kinds) != 0 || properties->win32SecurityAttributes != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const bool managed = (int)properties->allocType == ALLOCATION_MANAGED;
    if (managed && wanted != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (managed && (int)properties->location.type == CU_MEM_LOCATION_TYPE_INVALID)
        return CUDA_SUCCESS;
    if (!managed && properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (properties->location.id != SIM_DEVICE)
            return CUDA_ERROR_INVALID_DEVICE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
        return wanted != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return (wanted & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                                               : CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = sim_pool_check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (poolProps == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_properties(poolProps);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *made = sim_pool_make(poolProps->maxSize, kind_of(poolProps),
                                          poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    const CUresult result = sim_pool_check(SIM_DEVICE, pool);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&pools.lock);
    bool standard = false;
    for (size_t i = 0; i < 3; i++) {
        standard = standard || (struct sim_pool *)pool == pools.of[i].standard;
        if ((struct sim_pool *)pool == pools.of[i].current)
            pools.of[i].current = pools.of[i].standard;
    }
    pthread_mutex_unlock(&pools.lock);
    if (standard || !sim_object_withdraw(pool, SIM_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_release(pool);
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
    if (result == CUDA_SUCCESS && !sim_stream_is_capturing(stream))
        result = sim_capture_permits_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle == NULL)
        result = sim_pool_of_device(SIM_MEMORY_DEVICE, true, &handle);
    struct sim_pool *pool = sim_pool_find(handle);
    if (result != CUDA_SUCCESS || pool == NULL || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_stream_is_capturing(stream))
        return sim_graph_memory_capture(stream, bytes, dptr);
    if (bytes == 0) {
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    const uint64_t address = take_counted(pool, bytes);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
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

static CUresult allocate_from(CUdeviceptr *dptr, size_t bytes, CUmemoryPool pool, CUstream stream,
                              bool per_thread)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result == CUDA_SUCCESS && pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? allocate(dptr, bytes, pool, stream, per_thread) : result;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return allocate_from(dptr, bytesize, pool, hStream, false);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    return allocate_from(dptr, bytesize, pool, hStream, true);
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
    if (!sim_range_find(dptr, &range) || range.begin != dptr ||
        (range.kind != SIM_MEMORY_DEVICE && range.pool == NULL) ||
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
