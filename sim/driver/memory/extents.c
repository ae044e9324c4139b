#include "driver/memory/extents.h"

#include <stdlib.h>
#include <string.h>

struct sim_extent {
    uint64_t begin, end;
};

bool sim_extents_start(struct sim_extents *extents, uint64_t begin, uint64_t end)
{
    extents->capacity = 64;
    extents->free = malloc(extents->capacity * sizeof(*extents->free));
    if (extents->free == NULL)
        return false;
    extents->count = 1;
    extents->free[0] = (struct sim_extent){begin, end};
    return true;
}

void sim_extents_end(struct sim_extents *extents)
{
    free(extents->free);
    *extents = (struct sim_extents){0};
}

size_t sim_extents_round(size_t bytes)
{
    return (bytes + SIM_ALIGNMENT - 1) & ~(size_t)(SIM_ALIGNMENT - 1);
}

uint64_t sim_extents_take(struct sim_extents *extents, size_t size)
{
    for (size_t i = 0; i < extents->count; i++) {
        struct sim_extent *extent = &extents->free[i];
        if (extent->end - extent->begin < size)
            continue;
        const uint64_t address = extent->begin;
        extent->begin += size;
        if (extent->begin == extent->end)
            memmove(extent, extent + 1, (--extents->count - i) * sizeof(*extent));
        return address;
    }
    return 0;
}

static bool make_room(struct sim_extents *extents)
{
    if (extents->count < extents->capacity)
        return true;
    struct sim_extent *larger = realloc(extents->free, extents->capacity * 2 * sizeof(*larger));
    if (larger == NULL)
        return false;
    extents->free = larger;
    extents->capacity *= 2;
    return true;
}

void sim_extents_give(struct sim_extents *extents, uint64_t begin, size_t size)
{
    const uint64_t end = begin + size;
    size_t at = 0;
    while (at < extents->count && extents->free[at].begin < begin)
        at++;
    struct sim_extent *next = &extents->free[at];
    const bool joins_before = at > 0 && next[-1].end == begin;
    const bool joins_after = at < extents->count && next->begin == end;
    if (joins_before && joins_after) {
        next[-1].end = next->end;
        memmove(next, next + 1, (--extents->count - at) * sizeof(*next));
    } else if (joins_before) {
        next[-1].end = end;
    } else if (joins_after) {
        next->begin = begin;
    } else if (make_room(extents)) { /* otherwise the address range leaks, but not the memory */
        next = &extents->free[at];
        memmove(next + 1, next, (extents->count - at) * sizeof(*next));
        *next = (struct sim_extent){begin, end};
        extents->count++;
    }
}
