#include "driver/memory/heap.h"

#include "driver/memory/extents.h"

#include <pthread.h>
#include <sys/mman.h>

/* Preferred begin of the heap: far from malloc's and mmap's addresses, so that no device pointer is a valid
 * host pointer by accident, and below the arena that capturing reserves. */
#define HEAP_HINT ((void *)0x200000000000)

/* Return freed memory of at least this size to the system. */
#define RELEASE_BYTES (1u << 20)
#define PAGE          4096u

static struct {
    pthread_mutex_t lock;
    struct sim_extents extents;
    size_t limit;
    size_t used;
    size_t ceiling;
    uint64_t begin, end; /* the reserved addresses */
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER, .ceiling = SIZE_MAX};

/* Called with the lock held. */
static size_t available(void)
{
    const size_t limit = heap.limit < heap.ceiling ? heap.limit : heap.ceiling;
    return heap.used < limit ? limit - heap.used : 0;
}

bool sim_heap_start(size_t bytes)
{
    /* Reserve twice the memory, so that fragmentation does not fail an allocation that would fit. */
    void *base = mmap(HEAP_HINT, bytes * 2, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    if (base == MAP_FAILED || !sim_extents_start(&heap.extents, begin, begin + bytes * 2))
        return false;
    (void)madvise(base, bytes * 2, MADV_DONTFORK); /* a forked child has no device memory */
    heap.limit = bytes;
    heap.begin = begin;
    heap.end = begin + bytes * 2;
    return true;
}

static uint64_t allocate(size_t bytes, bool charged)
{
    const size_t size = sim_extents_round(bytes);
    uint64_t address = 0;
    if (size < bytes)
        return 0;
    pthread_mutex_lock(&heap.lock);
    if (!charged || size <= available())
        address = sim_extents_take(&heap.extents, size);
    if (address != 0 && charged)
        heap.used += size;
    pthread_mutex_unlock(&heap.lock);
    return address;
}

uint64_t sim_heap_allocate(size_t bytes)
{
    return allocate(bytes, true);
}

uint64_t sim_heap_reserve(size_t bytes)
{
    return allocate(bytes, false);
}

static void give_back(uint64_t address, size_t bytes, bool charged)
{
    const size_t size = sim_extents_round(bytes);
    if (size >= RELEASE_BYTES) {
        const uint64_t first = (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        const uint64_t last = (address + size) & ~(uint64_t)(PAGE - 1);
        (void)madvise((void *)(uintptr_t)first, last - first, MADV_DONTNEED);
    }
    pthread_mutex_lock(&heap.lock);
    sim_extents_give(&heap.extents, address, size);
    heap.used -= charged ? size : 0;
    pthread_mutex_unlock(&heap.lock);
}

void sim_heap_free(uint64_t address, size_t bytes)
{
    give_back(address, bytes, true);
}

void sim_heap_unreserve(uint64_t address, size_t bytes)
{
    give_back(address, bytes, false);
}

bool sim_heap_charge(size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    const bool fits = bytes <= available();
    if (fits)
        heap.used += bytes;
    pthread_mutex_unlock(&heap.lock);
    return fits;
}

void sim_heap_refund(size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    heap.used -= bytes;
    pthread_mutex_unlock(&heap.lock);
}

size_t sim_heap_available(void)
{
    pthread_mutex_lock(&heap.lock);
    const size_t bytes = available();
    pthread_mutex_unlock(&heap.lock);
    return bytes;
}

void sim_heap_bounds(uint64_t *begin, uint64_t *end)
{
    *begin = heap.begin;
    *end = heap.end;
}

void sim_heap_set_ceiling(size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    heap.ceiling = bytes;
    pthread_mutex_unlock(&heap.lock);
}
