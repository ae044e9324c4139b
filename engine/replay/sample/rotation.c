#include "replay/sample/rotation.h"

enum {
    CACHE_FACTOR = 5, /* caches' worth of other state between two uses of a copy */
    MEMORY_SHARE = 2, /* at most 1/2 of free memory */
    ASKED_SHIFT =
        31 /* limit for a requested count, as a power of two: Composable Kernel's offsets have 32 bits */
};

uint32_t nb_rotation_by_cache(uint64_t footprint, uint64_t l2_bytes, uint64_t free_bytes)
{
    const uint64_t copies = (CACHE_FACTOR * l2_bytes + footprint - 1) / footprint + 1;
    const uint64_t most = free_bytes / MEMORY_SHARE / footprint;
    const uint64_t count = copies < most ? copies : most;
    return (uint32_t)(count < 2 ? 2 : count);
}

uint32_t nb_rotation_as_asked(uint32_t asked, uint64_t footprint)
{
    const uint64_t most = (UINT64_C(1) << ASKED_SHIFT) / footprint;
    const uint64_t count = asked < most ? asked : most;
    return count == 0 ? 1 : (uint32_t)count;
}

uint32_t nb_rotation_index(uint64_t iteration, uint32_t count)
{
    return (uint32_t)(iteration % count);
}
