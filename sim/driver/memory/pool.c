#include "driver/memory/pool.h"

#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/memory/heap.h"
#include "driver/memory/shareable.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
    sim_heap_refund(pool->spare);
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

/* Release reserved memory beyond `bytes` of unused memory. Called with the pool's lock held. */
static void trim_to(struct sim_pool *pool, unsigned long long bytes)
{
    if (pool->spare > bytes) {
        sim_heap_refund(pool->spare - bytes);
        pool->spare = bytes;
    }
}

void sim_pool_trim(struct sim_pool *pool, unsigned long long bytes)
{
    pthread_mutex_lock(&pool->lock);
    trim_to(pool, bytes > pool->used ? bytes - pool->used : 0);
    pthread_mutex_unlock(&pool->lock);
}

/* Return memory to the pool's own address range or to the heap. */
static void put_back(struct sim_pool *pool, uint64_t address, size_t bytes)
{
    if (pool->descriptor < 0) {
        sim_heap_free(address, bytes);
        return;
    }
    sim_extents_give(&pool->extents, address, sim_extents_round(bytes));
    sim_heap_refund(sim_extents_round(bytes));
}

/* Take memory from the pool's own address range and charge it to the device. 0: out of memory. */
static uint64_t take_own(struct sim_pool *pool, size_t bytes)
{
    const size_t size = sim_extents_round(bytes);
    if (size < bytes || !sim_heap_charge(size))
        return 0;
    const uint64_t address = sim_extents_take(&pool->extents, size);
    if (address == 0)
        sim_heap_refund(size);
    return address;
}

static uint64_t take(struct sim_pool *pool, size_t bytes)
{
    const uint64_t address = pool->descriptor < 0 ? sim_heap_allocate(bytes) : take_own(pool, bytes);
    const struct sim_range range = {.begin = address,
                                    .end = address + bytes,
                                    .kind = pool->kind,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .flags = pool->kind == SIM_MEMORY_MANAGED ? CU_MEM_ATTACH_GLOBAL : 0,
                                    .pool = pool};
    if (address == 0 || sim_range_add(&range))
        return address;
    put_back(pool, address, bytes);
    return 0;
}

/* Uses the reserved memory first. If the device is out of memory, releases what remains reserved. Called
 * with the pool's lock held. */
static uint64_t take_from_reserve(struct sim_pool *pool, size_t bytes)
{
    const unsigned long long before = pool->spare;
    trim_to(pool, before > bytes ? before - bytes : 0);
    const uint64_t address = take(pool, bytes);
    if (address != 0 || pool->spare == 0)
        return address;
    trim_to(pool, 0);
    return take(pool, bytes);
}

uint64_t sim_pool_take(struct sim_pool *pool, size_t bytes)
{
    uint64_t address = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->limit == 0 || (bytes <= pool->limit && pool->used <= pool->limit - bytes))
        address = take_from_reserve(pool, bytes);
    if (address != 0) {
        pool->used += bytes;
        if (pool->used > pool->used_high)
            pool->used_high = pool->used;
        if (pool->used + pool->spare > pool->reserved_high)
            pool->reserved_high = pool->used + pool->spare;
        sim_object_retain(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return address;
}

void sim_pool_give_back(struct sim_pool *pool, const struct sim_range *range)
{
    const size_t bytes = range->end - range->begin;
    if (!pool->imported) {
        pthread_mutex_lock(&pool->lock);
        put_back(pool, range->begin, bytes);
        pool->used -= bytes;
        const unsigned long long spare_limit =
            pool->release_threshold > pool->used ? pool->release_threshold - pool->used : 0;
        if (pool->spare + bytes <= spare_limit && sim_heap_charge(bytes))
            pool->spare += bytes;
        else
            trim_to(pool, spare_limit);
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

CUresult sim_pool_destroy(CUmemoryPool pool)
{
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
