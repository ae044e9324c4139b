#include "driver/memory/memory.h"

#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/heap.h"
#include "driver/memory/pool.h"
#include "driver/memory/residency.h"

#include <sys/mman.h>

bool sim_memory_start(void)
{
    return sim_heap_start(sim_device_memory());
}

uint64_t sim_memory_allocate(enum sim_memory kind, size_t bytes, unsigned flags, struct sim_context *context)
{
    const uint64_t address = sim_heap_allocate(bytes);
    const struct sim_range range = {.begin = address,
                                    .end = address + bytes,
                                    .kind = kind,
                                    .access = SIM_ACCESS_READ_WRITE,
                                    .flags = flags,
                                    .context = context == NULL ? NULL : sim_context_root(context)};
    if (address != 0 && !sim_range_add(&range)) {
        sim_heap_free(address, bytes);
        return 0;
    }
    return address;
}

static void give_back(const struct sim_range *range)
{
    if (range->kind == SIM_MEMORY_MANAGED)
        sim_residency_forget(range->begin, range->end);
    if (range->pool != NULL)
        sim_pool_give_back(range->pool, range);
    else
        sim_heap_free(range->begin, range->end - range->begin);
}

bool sim_memory_free(uint64_t address, unsigned kinds)
{
    struct sim_range range;
    if (!sim_range_remove(address, kinds, &range))
        return false;
    give_back(&range);
    return true;
}

void sim_memory_free_context(struct sim_context *context)
{
    struct sim_range range;
    while (sim_range_remove_any(context, SIM_MEMORY_FREEABLE | 1u << SIM_MEMORY_KERNEL, &range))
        give_back(&range);
    while (sim_range_remove_any(context, 1u << SIM_MEMORY_HOST, &range))
        munmap((void *)(uintptr_t)range.begin, range.end - range.begin);
    while (sim_range_remove_any(context, 1u << SIM_MEMORY_REGISTERED, &range))
        ; /* the program owns the pages */
}

bool sim_memory_find(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    struct sim_range range;
    (void)unused;
    if (!sim_range_find(address, &range) || range.access == SIM_ACCESS_NONE)
        return false;
    *writable = range.access == SIM_ACCESS_READ_WRITE;
    *begin = range.begin;
    *end = range.end;
    return true;
}
