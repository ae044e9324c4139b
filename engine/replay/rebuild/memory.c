/* Physical memory behind the recorded addresses. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/memory.h"

enum { PAD_GRANULES = 32 }; /* of 2 MiB each on today's devices */

#define MIB(bytes) ((double)(bytes) / (1 << 20))

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
        return NB_REPLAY_CANNOT;
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

/* The time of a kernel depends on where its physical memory lies (two speeds, 2 % apart, for a reduction of
 * 12 us on an H200), and a kernel can measure where. So each replay process begins its physical memory at
 * another place, where the device has room for that. */
static int draw_placement(struct nb_replay *replay, uint64_t noise)
{
    struct nb_memory *memory = &replay->memory;
    const uint64_t granules = noise % PAD_GRANULES;
    if (granules == 0)
        return NB_REPLAY_OK;
    const CUresult result =
        replay->driver.cuMemCreate(&memory->pad, (size_t)(granules * memory->granule), &memory->physical, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return NB_REPLAY_OK;
    NB_TRY(nb_called(replay, result, "cuMemCreate"));
    memory->has_pad = true;
    return NB_REPLAY_OK;
}

int nb_memory_build(struct nb_replay *replay, uint32_t set_count, uint64_t noise)
{
    struct nb_memory *memory = &replay->memory;
    memory->sets = nb_new(replay, set_count, sizeof *memory->sets);
    if (memory->sets == NULL)
        return NB_REPLAY_CANNOT;
    memory->set_count = set_count;
    for (uint32_t i = 0; i < set_count; i++)
        memory->sets[i] = (struct nb_set){.stale = true};
    if (memory->range_count != 0)
        NB_TRY(draw_placement(replay, noise));
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
        if (memory->has_pad)
            replay->driver.cuMemRelease(memory->pad);
        for (uint32_t i = 0; i < memory->reservation_count; i++)
            replay->driver.cuMemAddressFree(memory->reservations[i].address,
                                            (size_t)memory->reservations[i].bytes);
    }
    for (uint32_t i = 0; i < memory->set_count; i++)
        free(memory->sets[i].handles);
    free(memory->sets);
    free(memory->pieces);
    free(memory->temporaries);
    free(memory->ranges);
    free(memory->reservations);
}
