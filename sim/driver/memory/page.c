/* A GPU checks addresses by the page: device memory has pages of 2 MiB, so a kernel can write past an
 * allocation, or into a freed one, while the page contains another (observed on an H200). Host memory has
 * the host's pages. Mappings consist of whole pages. Access to memory that this process has not mapped is
 * never allowed: the pages of device memory end with the range that the heap reserved. */
#include "driver/memory/page.h"

#include "driver/memory/heap.h"
#include "driver/memory/range.h"

#define DEVICE_PAGE ((uint64_t)2 << 20)
#define HOST_PAGE   ((uint64_t)4096)

#define HEAP_KINDS                                                                                           \
    (1u << SIM_MEMORY_DEVICE | 1u << SIM_MEMORY_GLOBAL | 1u << SIM_MEMORY_MANAGED |                          \
     1u << SIM_MEMORY_KERNEL | 1u << SIM_MEMORY_GRAPH | 1u << SIM_MEMORY_HOST) /* from host pools */
#define HOST_KINDS (1u << SIM_MEMORY_HOST | 1u << SIM_MEMORY_REGISTERED)

static bool find_in_page(uint64_t address, uint64_t page, unsigned kinds, struct sim_range *range)
{
    const uint64_t start = address / page * page;
    if (!sim_range_find_overlap(start, start + page, kinds, range))
        return false;
    range->begin = range->begin / page * page;
    range->end = (range->end + page - 1) / page * page;
    return address >= range->begin && address < range->end;
}

bool sim_memory_find_page(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    struct sim_range range;
    uint64_t first;
    uint64_t last;
    (void)unused;
    *writable = true;
    sim_heap_bounds(&first, &last);
    if (address >= first && address < last) {
        if (!find_in_page(address, DEVICE_PAGE, HEAP_KINDS, &range))
            return false;
        *begin = range.begin < first ? first : range.begin;
        *end = range.end > last ? last : range.end;
        return true;
    }
    if (!find_in_page(address, HOST_PAGE, HOST_KINDS, &range) &&
        (!sim_range_find(address, &range) || range.access == SIM_ACCESS_NONE))
        return false;
    *writable = range.access == SIM_ACCESS_READ_WRITE;
    *begin = range.begin;
    *end = range.end;
    return true;
}
