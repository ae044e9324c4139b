/* The recorded address ranges: reserved, and backed by physical memory. */
#include <stdlib.h>

#include "engine.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

static int by_address(const void *left, const void *right)
{
    const struct nb_range *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

/* Every allocation in whole granules, then those that touch joined. */
static int find_ranges(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    const struct nb_reader *reader = &replay->reader;
    const uint64_t mask = memory->granule - 1;
    memory->ranges = nb_new(replay, reader->allocation_count, sizeof *memory->ranges);
    if (memory->ranges == NULL && reader->allocation_count != 0)
        return NB_REPLAY_OURS;
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const struct nb_capture_allocation *allocation = &reader->allocations[i];
        const uint64_t begin = allocation->address & ~mask;
        const uint64_t end = (allocation->address + allocation->bytes + mask) & ~mask;
        if (end <= begin)
            return nb_fail(replay, NB_REPLAY_CANNOT, "%llu bytes at 0x%llx: no address of a device",
                           (unsigned long long)allocation->bytes, (unsigned long long)allocation->address);
        memory->ranges[i] = (struct nb_range){.address = begin, .bytes = end - begin};
    }
    if (reader->allocation_count == 0)
        return NB_REPLAY_OK;
    qsort(memory->ranges, reader->allocation_count, sizeof *memory->ranges, by_address);
    struct nb_range *last = memory->ranges;
    for (uint32_t i = 1; i < reader->allocation_count; i++) {
        const struct nb_range next = memory->ranges[i];
        if (next.address <= last->address + last->bytes) {
            const uint64_t end = next.address + next.bytes;
            if (end > last->address + last->bytes)
                last->bytes = end - last->address;
        } else {
            *++last = next;
        }
    }
    memory->range_count = (uint32_t)(last - memory->ranges) + 1;
    for (uint32_t i = 0; i < memory->range_count; i++) {
        memory->ranges[i].start = memory->mapped_bytes;
        memory->mapped_bytes += memory->ranges[i].bytes;
    }
    return NB_REPLAY_OK;
}

static int reserve(struct nb_replay *replay, struct nb_range *range)
{
    CUdeviceptr got = 0;
    const CUresult result =
        replay->driver.cuMemAddressReserve(&got, (size_t)range->bytes, 0, range->address, 0);
    if (result == CUDA_SUCCESS && got == range->address) {
        range->reserved = true;
        return NB_REPLAY_OK;
    }
    if (result == CUDA_SUCCESS)
        replay->driver.cuMemAddressFree(got, (size_t)range->bytes);
    return nb_fail(replay, NB_REPLAY_CANNOT,
                   "the address range 0x%llx-0x%llx of the recording cannot be had in this process (%s); "
                   "replay in a process of its own, or record again with the arena",
                   (unsigned long long)range->address, (unsigned long long)(range->address + range->bytes),
                   result == CUDA_SUCCESS ? "the driver gave another"
                                          : nb_driver_name(&replay->driver, result));
}

int nb_memory_reserve(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    memory->physical = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)replay->options.device},
    };
    size_t granule = 0;
    NB_TRY(NB_CALL(replay, cuMemGetAllocationGranularity, &granule, &memory->physical,
                   CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (granule < NB_CAPTURE_PAGE || (granule & (granule - 1)) != 0)
        return nb_fail(replay, NB_REPLAY_FAILED, "the driver maps memory in pieces of %zu bytes", granule);
    memory->granule = granule;
    NB_TRY(find_ranges(replay));
    for (uint32_t i = 0; i < memory->range_count; i++)
        NB_TRY(reserve(replay, &memory->ranges[i]));
    return NB_REPLAY_OK;
}

static int map(struct nb_replay *replay, CUdeviceptr address, uint64_t bytes,
               CUmemGenericAllocationHandle handle)
{
    const CUmemAccessDesc access = {replay->memory.physical.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    NB_TRY(NB_CALL(replay, cuMemMap, address, (size_t)bytes, 0, handle, 0));
    return NB_CALL(replay, cuMemSetAccess, address, (size_t)bytes, &access, 1);
}

static int build_set(struct nb_replay *replay, struct nb_set *set)
{
    struct nb_memory *memory = &replay->memory;
    set->handles = nb_new(replay, memory->range_count, sizeof *set->handles);
    if (set->handles == NULL)
        return NB_REPLAY_OURS;
    for (uint32_t i = 0; i < memory->range_count; i++) {
        const uint64_t bytes = memory->ranges[i].bytes;
        const CUresult result =
            replay->driver.cuMemCreate(&set->handles[i], (size_t)bytes, &memory->physical, 0);
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            return nb_fail(replay, NB_REPLAY_CANNOT,
                           "the device has no room for the recorded memory (%.1f MiB, %u times): free memory "
                           "there, or use --cold flush, which needs it once",
                           MIB(memory->mapped_bytes), memory->set_count);
        NB_TRY(nb_called(replay, result, "cuMemCreate"));
        set->created++;
    }
    if (memory->set_count == 1)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuMemAddressReserve, &set->alias, (size_t)memory->mapped_bytes,
                   (size_t)memory->granule, 0, 0));
    for (; set->aliased < memory->range_count; set->aliased++) {
        const struct nb_range *range = &memory->ranges[set->aliased];
        NB_TRY(map(replay, set->alias + range->start, range->bytes, set->handles[set->aliased]));
    }
    return NB_REPLAY_OK;
}

static int map_set(struct nb_replay *replay, uint32_t set)
{
    struct nb_memory *memory = &replay->memory;
    memory->current = set;
    for (; memory->mapped < memory->range_count; memory->mapped++) {
        const struct nb_range *range = &memory->ranges[memory->mapped];
        NB_TRY(map(replay, range->address, range->bytes, memory->sets[set].handles[memory->mapped]));
    }
    return NB_REPLAY_OK;
}

static int unmap_set(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    for (; memory->mapped > 0; memory->mapped--) {
        const struct nb_range *range = &memory->ranges[memory->mapped - 1];
        NB_TRY(NB_CALL(replay, cuMemUnmap, range->address, (size_t)range->bytes));
    }
    return NB_REPLAY_OK;
}

int nb_memory_build(struct nb_replay *replay, uint32_t set_count)
{
    struct nb_memory *memory = &replay->memory;
    memory->sets = nb_new(replay, set_count, sizeof *memory->sets);
    if (memory->sets == NULL)
        return NB_REPLAY_OURS;
    memory->set_count = set_count;
    for (uint32_t i = 0; i < set_count; i++)
        memory->sets[i] = (struct nb_set){.stale = true, .inputs = NB_NOTHING};
    for (uint32_t i = 0; memory->range_count != 0 && i < set_count; i++)
        NB_TRY(build_set(replay, &memory->sets[i]));
    return map_set(replay, 0);
}

int nb_memory_switch(struct nb_replay *replay, uint32_t set)
{
    if (set == replay->memory.current)
        return NB_REPLAY_OK;
    NB_TRY(unmap_set(replay));
    return map_set(replay, set);
}

static uint32_t range_of(const struct nb_memory *memory, uint64_t address)
{
    uint32_t low = 0, high = memory->range_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].address + memory->ranges[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

CUdeviceptr nb_memory_at(const struct nb_replay *replay, uint32_t set, uint64_t address, uint64_t bytes)
{
    const struct nb_memory *memory = &replay->memory;
    const uint32_t index = range_of(memory, address);
    if (index == memory->range_count || address < memory->ranges[index].address)
        return 0;
    const struct nb_range *range = &memory->ranges[index];
    const uint64_t offset = address - range->address;
    if (bytes > range->bytes - offset)
        return 0;
    return nb_memory_base(memory, set, index) + offset;
}

static void close_set(struct nb_replay *replay, const struct nb_set *set)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 0; i < set->aliased; i++)
        replay->driver.cuMemUnmap(set->alias + memory->ranges[i].start, (size_t)memory->ranges[i].bytes);
    for (uint32_t i = 0; i < set->created; i++)
        replay->driver.cuMemRelease(set->handles[i]);
    if (set->alias != 0)
        replay->driver.cuMemAddressFree(set->alias, (size_t)memory->mapped_bytes);
}

void nb_memory_close(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    if (replay->gone == NB_REPLAY_OK && replay->context != NULL) {
        (void)unmap_set(replay);
        for (uint32_t i = 0; i < memory->set_count; i++)
            close_set(replay, &memory->sets[i]);
        for (uint32_t i = 0; i < memory->range_count; i++)
            if (memory->ranges[i].reserved)
                replay->driver.cuMemAddressFree(memory->ranges[i].address, (size_t)memory->ranges[i].bytes);
        if (memory->shadow != 0)
            replay->driver.cuMemFree_v2(memory->shadow);
    }
    for (uint32_t i = 0; i < memory->set_count; i++)
        free(memory->sets[i].handles);
    free(memory->sets);
    free(memory->pieces);
    free(memory->ranges);
}
