#include "core/base/ranges.h"

#include <stdlib.h>
#include <string.h>

struct extent {
    uint64_t address;
    uint64_t bytes;
};

static struct extent extent_of(const void *item)
{
    struct extent extent;
    memcpy(&extent, item, sizeof extent);
    return extent;
}

/* How many items begin at or before the address. */
static size_t begun_at(const struct nb_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (extent_of(nb_ranges_item(ranges, middle)).address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *nb_ranges_find(const struct nb_ranges *ranges, uint64_t address)
{
    const size_t begun = begun_at(ranges, address);
    if (begun == 0)
        return NULL;
    void *item = nb_ranges_item(ranges, begun - 1);
    const struct extent extent = extent_of(item);
    return address - extent.address < extent.bytes ? item : NULL;
}

bool nb_ranges_meet(const struct nb_ranges *ranges, uint64_t address, uint64_t bytes)
{
    const size_t begun = begun_at(ranges, address);
    return nb_ranges_find(ranges, address) != NULL ||
           (begun < ranges->count && extent_of(nb_ranges_item(ranges, begun)).address - address < bytes);
}

static bool grow(struct nb_ranges *ranges)
{
    const size_t capacity = ranges->capacity == 0 ? 64 : 2 * ranges->capacity;
    char *items = realloc(ranges->items, capacity * ranges->item_bytes);
    if (items == NULL)
        return false;
    ranges->items = items;
    ranges->capacity = capacity;
    return true;
}

bool nb_ranges_add(struct nb_ranges *ranges, const void *item)
{
    const struct extent extent = extent_of(item);
    if (extent.bytes == 0 || extent.bytes > UINT64_MAX - extent.address ||
        nb_ranges_meet(ranges, extent.address, extent.bytes) ||
        (ranges->count == ranges->capacity && !grow(ranges)))
        return false;
    const size_t at = begun_at(ranges, extent.address);
    char *place = nb_ranges_item(ranges, at);
    memmove(place + ranges->item_bytes, place, (ranges->count - at) * ranges->item_bytes);
    memcpy(place, item, ranges->item_bytes);
    ranges->count++;
    return true;
}

void nb_ranges_remove(struct nb_ranges *ranges, void *item)
{
    char *place = item;
    const size_t after = (size_t)(ranges->items + ranges->count * ranges->item_bytes - place);
    memmove(place, place + ranges->item_bytes, after - ranges->item_bytes);
    ranges->count--;
}
