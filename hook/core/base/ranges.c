#include "core/base/ranges.h"

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

/* Count the items that begin at or before the address. */
static size_t count_begun(const struct nb_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = nb_ranges_count(ranges);
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
    const size_t index = count_begun(ranges, address);
    if (index == 0)
        return NULL;
    void *item = nb_ranges_item(ranges, index - 1);
    const struct extent extent = extent_of(item);
    return address - extent.address < extent.bytes ? item : NULL;
}

bool nb_ranges_overlap(const struct nb_ranges *ranges, uint64_t address, uint64_t bytes)
{
    const size_t index = count_begun(ranges, address);
    return nb_ranges_find(ranges, address) != NULL ||
           (index < nb_ranges_count(ranges) &&
            extent_of(nb_ranges_item(ranges, index)).address - address < bytes);
}

bool nb_ranges_add(struct nb_ranges *ranges, const void *item)
{
    const struct extent extent = extent_of(item);
    return extent.bytes != 0 && extent.bytes <= UINT64_MAX - extent.address &&
           !nb_ranges_overlap(ranges, extent.address, extent.bytes) &&
           nb_vector_insert(&ranges->sorted, count_begun(ranges, extent.address), item);
}

void nb_ranges_remove(struct nb_ranges *ranges, void *item)
{
    const size_t offset = (size_t)((char *)item - ranges->sorted.items);
    nb_vector_remove(&ranges->sorted, offset / ranges->sorted.item_bytes);
}
