#include "driver/memory/range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Sorted, because thousands of allocations may be live: lookups are binary searches. */
static struct sim_range *ranges;
static size_t range_count;
static size_t range_capacity;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

unsigned long long sim_range_new_id(void)
{
    static atomic_ullong next = 1;
    return atomic_fetch_add(&next, 1);
}

/* Index of the first range that ends after `address`. */
static size_t search(uint64_t address)
{
    size_t low = 0;
    size_t high = range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool reserve(void)
{
    if (range_count < range_capacity)
        return true;
    const size_t capacity = range_capacity == 0 ? 64 : range_capacity * 2;
    struct sim_range *larger = realloc(ranges, capacity * sizeof(*larger));
    if (larger == NULL)
        return false;
    ranges = larger;
    range_capacity = capacity;
    return true;
}

bool sim_range_add(const struct sim_range *range)
{
    pthread_rwlock_wrlock(&lock);
    const size_t at = search(range->begin);
    const bool fits = range->begin < range->end && (at == range_count || ranges[at].begin >= range->end);
    const bool added = fits && reserve();
    if (added) {
        memmove(ranges + at + 1, ranges + at, (range_count - at) * sizeof(*ranges));
        ranges[at] = *range;
        ranges[at].id = sim_range_new_id();
        range_count++;
    }
    pthread_rwlock_unlock(&lock);
    return added;
}

bool sim_range_find(uint64_t address, struct sim_range *range)
{
    pthread_rwlock_rdlock(&lock);
    const size_t at = search(address);
    const bool found = at < range_count && ranges[at].begin <= address;
    if (found)
        *range = ranges[at];
    pthread_rwlock_unlock(&lock);
    return found;
}

bool sim_range_find_overlap(uint64_t begin, uint64_t end, unsigned kinds, struct sim_range *range)
{
    bool found = false;
    pthread_rwlock_rdlock(&lock);
    for (size_t at = search(begin); !found && at < range_count && ranges[at].begin < end; at++) {
        found = ranges[at].access != SIM_ACCESS_NONE && (kinds >> ranges[at].kind & 1u) != 0;
        if (found)
            *range = ranges[at];
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

bool sim_range_find_nearest(uint64_t address, struct sim_range *range)
{
    pthread_rwlock_rdlock(&lock);
    size_t at = search(address);
    const bool found = range_count != 0;
    if (found && (at == range_count || (at > 0 && ranges[at].begin > address &&
                                        address - ranges[at - 1].end < ranges[at].begin - address)))
        at--;
    if (found)
        *range = ranges[at];
    pthread_rwlock_unlock(&lock);
    return found;
}

static bool may(uint64_t address, size_t bytes, enum sim_access access)
{
    if (bytes == 0)
        return true;
    if (address + bytes < address)
        return false;
    pthread_rwlock_rdlock(&lock);
    uint64_t next = address;
    for (size_t at = search(address); next < address + bytes; at++) {
        /* Adjacent mappings count as one memory, adjacent allocations do not. */
        const bool joins = at < range_count && ranges[at].begin <= next && ranges[at].access >= access &&
                           (next == address || ranges[at].kind == SIM_MEMORY_MAPPED);
        if (!joins)
            break;
        next = ranges[at].end;
    }
    pthread_rwlock_unlock(&lock);
    return next >= address + bytes;
}

bool sim_range_accessible(uint64_t address, size_t bytes)
{
    return may(address, bytes, SIM_ACCESS_READ_WRITE);
}

bool sim_range_readable(uint64_t address, size_t bytes)
{
    return may(address, bytes, SIM_ACCESS_READ);
}

bool sim_range_addressable(uint64_t address, size_t bytes)
{
    struct sim_range range;
    if (sim_range_find(address, &range) && range.kind == SIM_MEMORY_GRAPH)
        return bytes <= range.end - address;
    return sim_range_accessible(address, bytes);
}

void sim_range_set_live(uint64_t address, bool live)
{
    pthread_rwlock_wrlock(&lock);
    const size_t at = search(address);
    if (at < range_count && ranges[at].begin == address && ranges[at].kind == SIM_MEMORY_GRAPH)
        ranges[at].access = live ? SIM_ACCESS_READ_WRITE : SIM_ACCESS_NONE;
    pthread_rwlock_unlock(&lock);
}

static void take(size_t at, struct sim_range *range)
{
    *range = ranges[at];
    range_count--;
    memmove(ranges + at, ranges + at + 1, (range_count - at) * sizeof(*ranges));
}

bool sim_range_remove(uint64_t address, unsigned kinds, struct sim_range *range)
{
    pthread_rwlock_wrlock(&lock);
    const size_t at = search(address);
    const bool found =
        at < range_count && ranges[at].begin == address && (kinds >> ranges[at].kind & 1u) != 0;
    if (found)
        take(at, range);
    pthread_rwlock_unlock(&lock);
    return found;
}

bool sim_range_remove_any(const struct sim_context *context, unsigned kinds, struct sim_range *range)
{
    bool found = false;
    pthread_rwlock_wrlock(&lock);
    for (size_t at = 0; at < range_count && !found; at++) {
        found = ranges[at].context == context && (kinds >> ranges[at].kind & 1u) != 0;
        if (found)
            take(at, range);
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

bool sim_range_set_access(uint64_t begin, uint64_t end, enum sim_access access)
{
    pthread_rwlock_wrlock(&lock);
    uint64_t next = begin;
    const size_t first = search(begin);
    size_t at = first;
    while (next < end && at < range_count && ranges[at].begin == next && ranges[at].end <= end &&
           ranges[at].kind == SIM_MEMORY_MAPPED)
        next = ranges[at++].end;
    const bool covers = next == end;
    for (size_t i = first; covers && i < at; i++)
        ranges[i].access = access;
    pthread_rwlock_unlock(&lock);
    return covers;
}

bool sim_range_set_synchronous(uint64_t address, bool synchronous)
{
    pthread_rwlock_wrlock(&lock);
    const size_t at = search(address);
    const bool found = at < range_count && ranges[at].begin <= address;
    if (found)
        ranges[at].synchronous = synchronous;
    pthread_rwlock_unlock(&lock);
    return found;
}
