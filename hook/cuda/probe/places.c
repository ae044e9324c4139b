#include "cuda/probe/places.h"

#include <string.h>

#include "core/driver/slots.h"
#include "cuda/kernel/stream.h"
#include "cuda/probe/allocations.h"
#include "real.h"
#include "surface.h"

enum { WARP = 32, MAP_ALIGNMENT = 256 };

/* The number of items of a map, and false if a product exceeds 64 bits. */
static bool count_items(const struct nb_launch_form *launch, uint32_t unit, uint64_t *items)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t blocks = 0;
    if (__builtin_mul_overflow((uint64_t)launch->grid[0] * launch->grid[1], launch->grid[2], &blocks))
        return false;
    const uint64_t of_block = unit == NB_PROBE_THREAD ? threads
                              : unit == NB_PROBE_WARP ? (threads + WARP - 1) / WARP
                                                      : 1;
    if (unit == NB_PROBE_LAUNCH || unit == NB_PROBE_ALLOCATIONS) {
        *items = 1;
        return true;
    }
    return !__builtin_mul_overflow(blocks, of_block, items);
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + MAP_ALIGNMENT - 1) / MAP_ALIGNMENT * MAP_ALIGNMENT;
}

/* The bytes of a counted map, with lists as long as `wanted` if a quarter of the limit allows it, so that
 * other launches have room: shorter lists still count what they lack. UINT64_MAX: not even the counters fit.
 */
static uint64_t place_counted(uint64_t items, uint64_t entry, uint64_t wanted, uint64_t used,
                              struct nb_probe_counted *counted)
{
    const uint64_t limit = nb_probe_map_limit() / 4;
    if (items > limit / sizeof(uint32_t) || used > limit)
        return UINT64_MAX;
    counted->position = aligned(sizeof *counted + items * sizeof(uint32_t));
    if (counted->position > limit - used)
        return UINT64_MAX;
    const uint64_t room = (limit - used - counted->position) / MAP_ALIGNMENT * MAP_ALIGNMENT;
    uint64_t each = 0; /* bytes of one entry of every list */
    if (items > 0 && entry > 0 && !__builtin_mul_overflow(items, entry, &each))
        counted->capacity = wanted < room / each ? wanted : room / each;
    return counted->position + counted->capacity * each;
}

bool nb_probe_place_maps(const struct nb_probe_kernel *kernel, const struct nb_launch_form *launch,
                         struct nb_probe_places *places)
{
    uint64_t *total = &places->bytes;
    bool all_of_launch = true;
    *places = (struct nb_probe_places){.table = NB_NO_TABLE};
    for (uint32_t i = 0; i < kernel->map_count; i++) {
        uint64_t items = 0, bytes = 0;
        if (!count_items(launch, kernel->maps[i].unit, &items))
            return false;
        if (kernel->maps[i].is_counted) {
            const uint64_t wanted = atomic_load(&kernel->entries[i]);
            bytes = place_counted(items, kernel->maps[i].bytes, wanted, *total, &places->counted[i]);
            places->counts[i] = (struct nb_probe_counts){*total + sizeof(struct nb_probe_counted), items};
        } else if (__builtin_mul_overflow(items, kernel->maps[i].bytes, &bytes)) {
            return false;
        }
        if (bytes > nb_probe_map_limit())
            return false;
        all_of_launch &= kernel->maps[i].unit >= NB_PROBE_LAUNCH;
        if (kernel->maps[i].unit == NB_PROBE_ALLOCATIONS) {
            if (bytes < sizeof(struct nb_probe_table) || bytes > UINT32_MAX || places->table != NB_NO_TABLE)
                return false; /* the supervisor refuses such engines */
            bytes = nb_probe_table_bytes(bytes);
            places->table = *total;
            places->table_bytes = (uint32_t)bytes;
        }
        places->of_map[i] = *total;
        *total += aligned(bytes);
        if (*total > nb_probe_map_limit())
            return false;
    }
    places->is_on_host = places->table != NB_NO_TABLE && all_of_launch;
    return true;
}

/* Queue the heads of counted maps. */
static bool fill_heads(const struct nb_probe_kernel *kernel, const struct nb_probe_places *places,
                       CUdeviceptr device, unsigned char *host, CUstream stream)
{
    for (uint32_t i = 0; i < kernel->map_count; i++) {
        if (places->counts[i].items == 0)
            continue;
        const uint64_t at = places->of_map[i];
        memcpy(host + at, &places->counted[i], sizeof places->counted[i]);
        if (!places->is_on_host &&
            NB_REAL(cuMemcpyHtoDAsync_v2)(device + at, host + at, sizeof places->counted[i], stream) !=
                CUDA_SUCCESS)
            return false;
    }
    return true;
}

bool nb_probe_fill_maps(const struct nb_probe_kernel *kernel, const struct nb_probe_places *places,
                        CUdeviceptr device, unsigned char *host, CUstream stream)
{
    if (places->is_on_host)
        memset(host, 0, places->bytes);
    else if (NB_REAL(cuMemsetD8Async)(device, 0, places->bytes, stream) != CUDA_SUCCESS)
        return false;
    if (!fill_heads(kernel, places, device, host, stream))
        return false;
    if (places->table == NB_NO_TABLE)
        return true;
    unsigned char *table = host + places->table;
    nb_probe_fill_table(table, places->table_bytes, nb_stream_query_number(stream), kernel->is_pageable);
    return NB_REAL(cuMemcpyHtoDAsync_v2)(device + places->table, table, places->table_bytes, stream) ==
           CUDA_SUCCESS;
}

void nb_probe_learn_entries(struct nb_probe_kernel *kernel, const struct nb_probe_places *places,
                            const unsigned char *host)
{
    for (uint32_t i = 0; i < kernel->map_count; i++) {
        const uint32_t *counts = (const uint32_t *)(const void *)(host + places->counts[i].position);
        uint32_t most = 0;
        for (uint64_t item = 0; item < places->counts[i].items; item++)
            most = counts[item] > most ? counts[item] : most;
        uint64_t known = atomic_load(&kernel->entries[i]);
        while (most > known && !atomic_compare_exchange_weak(&kernel->entries[i], &known, most))
            ;
    }
}
