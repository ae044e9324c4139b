/* Reserves the recorded address ranges before any other memory can take them. */
#include <stdlib.h>

#include "replay/base/engine.h"
#include "replay/rebuild/memory.h"

enum { GIB_SHIFT = 30 };

static const uint64_t arena_most =
    UINT64_C(1) << 46; /* limit on addresses in a capture: half of a process's address space */

static int by_address(const void *left, const void *right)
{
    const struct nb_range *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

/* Every allocation in whole granules. */
static int list_ranges(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    const struct nb_reader *reader = &replay->reader;
    const uint64_t mask = memory->granule - 1;
    for (uint32_t i = 0; i < reader->allocation_count; i++) {
        const struct nb_capture_allocation *allocation = &reader->allocations[i];
        const uint64_t begin = allocation->address & ~mask;
        const uint64_t end = (allocation->address + allocation->bytes + mask) & ~mask;
        if (end <= begin)
            return nb_fail(replay, NB_REPLAY_CANNOT, "%llu bytes at 0x%llx: no address of a device",
                           (unsigned long long)allocation->bytes, (unsigned long long)allocation->address);
        memory->ranges[i] = (struct nb_range){.address = begin, .bytes = end - begin};
    }
    qsort(memory->ranges, reader->allocation_count, sizeof *memory->ranges, by_address);
    return NB_REPLAY_OK;
}

/* Adjacent ranges become one, so that fewer handles are mapped. */
static void join_ranges(struct nb_memory *memory, uint32_t count)
{
    struct nb_range *last = memory->ranges;
    for (uint32_t i = 1; i < count; i++) {
        const struct nb_range next = memory->ranges[i];
        if (next.address > last->address + last->bytes)
            *++last = next;
        else if (next.address + next.bytes > last->address + last->bytes)
            last->bytes = next.address + next.bytes - last->address;
    }
    memory->range_count = (uint32_t)(last - memory->ranges) + 1;
    for (uint32_t i = 0; i < memory->range_count; i++) {
        memory->ranges[i].start = memory->mapped_bytes;
        memory->mapped_bytes += memory->ranges[i].bytes;
    }
}

static bool try_reserve(struct nb_replay *replay, CUdeviceptr address, uint64_t bytes)
{
    struct nb_memory *memory = &replay->memory;
    CUdeviceptr place = 0;
    if (bytes == 0 || address + bytes < address ||
        replay->driver.cuMemAddressReserve(&place, (size_t)bytes, 0, address, 0) != CUDA_SUCCESS)
        return false;
    if (place != address) {
        replay->driver.cuMemAddressFree(place, (size_t)bytes);
        return false;
    }
    memory->reservations[memory->reservation_count++] = (struct nb_reservation){address, bytes};
    return true;
}

static bool holds(const struct nb_reservation *reservation, const struct nb_range *range)
{
    return range->address >= reservation->address &&
           range->address + range->bytes <= reservation->address + reservation->bytes;
}

/* Reserved with the arena, which comes first, or with the previous range: ranges are sorted. */
static bool is_reserved(const struct nb_memory *memory, const struct nb_range *range)
{
    const uint32_t count = memory->reservation_count;
    return count != 0 &&
           (holds(&memory->reservations[0], range) || holds(&memory->reservations[count - 1], range));
}

/* Driver 580 ignores the requested address of small reservations (22 MiB; not from 32 MiB on), so small
 * ranges are also tried as large ones. */
static int reserve_range(struct nb_replay *replay, const struct nb_range *range)
{
    const uint64_t gib = UINT64_C(1) << GIB_SHIFT;
    const uint64_t large = (range->bytes + gib - 1) & ~(gib - 1);
    if (is_reserved(&replay->memory, range) || try_reserve(replay, range->address, large) ||
        try_reserve(replay, range->address, range->bytes))
        return NB_REPLAY_OK;
    return nb_fail(replay, NB_REPLAY_CANNOT,
                   "the address range 0x%llx-0x%llx of the capture is taken in this process; replay in a "
                   "process of its own, or record again with the arena",
                   (unsigned long long)range->address, (unsigned long long)(range->address + range->bytes));
}

/* Reserve the recorded arena first, as the captured process did: it holds all of its ranges. */
static void reserve_arena(struct nb_replay *replay)
{
    const struct nb_capture_device *device = replay->reader.device;
    const struct nb_memory *memory = &replay->memory;
    const uint64_t bytes = device->arena_bytes & ~(memory->granule - 1);
    if (device->arena != 0 && (device->arena & (memory->granule - 1)) == 0 && bytes <= arena_most)
        (void)try_reserve(replay, device->arena, bytes);
}

int nb_memory_reserve(struct nb_replay *replay)
{
    struct nb_memory *memory = &replay->memory;
    const uint32_t count = replay->reader.allocation_count;
    memory->physical = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)replay->options.device},
    };
    size_t granule = 0;
    NB_TRY(NB_CALL(replay, cuMemGetAllocationGranularity, &granule, &memory->physical,
                   CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (granule < NB_CAPTURE_PAGE || (granule & (granule - 1)) != 0)
        return nb_fail(
            replay, NB_REPLAY_FAILED,
            "the driver maps memory in pieces of %zu bytes; the replay needs a power of two from 4096",
            granule);
    memory->granule = granule;
    if (count == 0)
        return NB_REPLAY_OK;
    memory->ranges = nb_new(replay, count, sizeof *memory->ranges);
    memory->reservations = nb_new(replay, (uint64_t)count + 1, sizeof *memory->reservations);
    if (memory->ranges == NULL || memory->reservations == NULL)
        return NB_REPLAY_CANNOT;
    NB_TRY(list_ranges(replay));
    join_ranges(memory, count);
    reserve_arena(replay);
    for (uint32_t i = 0; i < memory->range_count; i++)
        NB_TRY(reserve_range(replay, &memory->ranges[i]));
    return NB_REPLAY_OK;
}
