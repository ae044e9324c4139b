#include "heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Where allocations begin if nothing else lies there: far from what malloc and mmap give, so that a device
 * pointer is never a host pointer by accident, and below the arena that capture reserves. */
#define HEAP_HINT ((void *)0x200000000000)

/* Freed memory at least this large is given back to the system. */
#define RELEASE_BYTES (1u << 20)
#define PAGE          4096u

struct extent {
    uint64_t begin, end;
};

static struct {
    pthread_mutex_t lock;
    struct extent *free; /* sorted, never adjacent */
    size_t count;
    size_t capacity;
    size_t limit;
    size_t used;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool sim_heap_start(size_t bytes)
{
    /* Twice the memory, so that fragments do not make an allocation fail that would fit. */
    void *base = mmap(HEAP_HINT, bytes * 2, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    heap.free = malloc(64 * sizeof(*heap.free));
    if (base == MAP_FAILED || heap.free == NULL)
        return false;
    (void)madvise(base, bytes * 2, MADV_DONTFORK); /* a forked child has no device memory */
    heap.capacity = 64;
    heap.count = 1;
    heap.free[0] = (struct extent){(uint64_t)(uintptr_t)base, (uint64_t)(uintptr_t)base + bytes * 2};
    heap.limit = bytes;
    return true;
}

static size_t rounded(size_t bytes)
{
    return (bytes + SIM_HEAP_ALIGNMENT - 1) & ~(size_t)(SIM_HEAP_ALIGNMENT - 1);
}

static uint64_t allocate(size_t bytes, bool charged)
{
    const size_t size = rounded(bytes);
    uint64_t address = 0;
    if (size < bytes)
        return 0;
    pthread_mutex_lock(&heap.lock);
    for (size_t i = 0; i < heap.count && (!charged || size <= heap.limit - heap.used); i++) {
        struct extent *extent = &heap.free[i];
        if (extent->end - extent->begin < size)
            continue;
        address = extent->begin;
        extent->begin += size;
        if (extent->begin == extent->end)
            memmove(extent, extent + 1, (--heap.count - i) * sizeof(*extent));
        heap.used += charged ? size : 0;
        break;
    }
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

static bool room_for_extent(void)
{
    if (heap.count < heap.capacity)
        return true;
    struct extent *larger = realloc(heap.free, heap.capacity * 2 * sizeof(*larger));
    if (larger == NULL)
        return false;
    heap.free = larger;
    heap.capacity *= 2;
    return true;
}

static void insert(uint64_t begin, uint64_t end)
{
    size_t at = 0;
    while (at < heap.count && heap.free[at].begin < begin)
        at++;
    const bool joins_before = at > 0 && heap.free[at - 1].end == begin;
    const bool joins_after = at < heap.count && heap.free[at].begin == end;
    if (joins_before && joins_after) {
        heap.free[at - 1].end = heap.free[at].end;
        memmove(heap.free + at, heap.free + at + 1, (--heap.count - at) * sizeof(*heap.free));
    } else if (joins_before) {
        heap.free[at - 1].end = end;
    } else if (joins_after) {
        heap.free[at].begin = begin;
    } else if (room_for_extent()) { /* else the addresses are lost, the memory is not */
        memmove(heap.free + at + 1, heap.free + at, (heap.count - at) * sizeof(*heap.free));
        heap.free[at] = (struct extent){begin, end};
        heap.count++;
    }
}

static void give_back(uint64_t address, size_t bytes, bool charged)
{
    const size_t size = rounded(bytes);
    if (size >= RELEASE_BYTES) {
        const uint64_t first = (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        const uint64_t last = (address + size) & ~(uint64_t)(PAGE - 1);
        (void)madvise((void *)(uintptr_t)first, last - first, MADV_DONTNEED);
    }
    pthread_mutex_lock(&heap.lock);
    insert(address, address + size);
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
    const bool fits = bytes <= heap.limit - heap.used;
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
    const size_t available = heap.limit - heap.used;
    pthread_mutex_unlock(&heap.lock);
    return available;
}
