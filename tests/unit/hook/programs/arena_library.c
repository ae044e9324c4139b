/* Exports the arena's functions for ctypes, with a function that resets its state. */
#include "core/arena/arena.c" /* with its static state */

#define EXPORT __attribute__((visibility("default")))

EXPORT int set(uint64_t begin, uint64_t bytes)
{
    free(granules);
    nb_ranges_clear(&shared_granules);
    nb_ranges_clear(&blocks);
    return nb_arena_configure(begin, bytes);
}

EXPORT int holds(uint64_t address)
{
    return nb_arena_contains(address);
}

EXPORT uint64_t reserve(uint64_t bytes, uint64_t alignment, uint64_t hint)
{
    return nb_arena_reserve(bytes, alignment, hint);
}

EXPORT void release(uint64_t address, uint64_t bytes)
{
    nb_arena_release(address, bytes);
}

EXPORT uint64_t take(uint64_t bytes)
{
    return nb_arena_take(bytes);
}

EXPORT uint64_t share(uint64_t granule, uint64_t bytes)
{
    return nb_arena_share(granule, bytes);
}

EXPORT uint64_t give(uint64_t address, uint64_t bytes)
{
    return nb_arena_give(address, bytes);
}

EXPORT uint64_t add(uint64_t address, uint64_t bytes)
{
    struct nb_arena_block block = {.address = address, .bytes = bytes, .kind = NB_ARENA_MEMORY};
    return nb_arena_add(&block) ? block.number : 0;
}

EXPORT int remove_block(uint64_t address)
{
    struct nb_arena_block block;
    return nb_arena_remove(address, NB_ARENA_MEMORY, &block);
}

EXPORT uint64_t find(uint64_t address)
{
    struct nb_arena_block block;
    return nb_arena_find(address, &block) ? block.address : 0;
}

static uint64_t *listed;

static void list(const struct nb_arena_block *block, void *context)
{
    (void)context;
    *listed++ = block->address;
}

EXPORT uint64_t each(uint64_t *addresses)
{
    listed = addresses;
    nb_arena_each(list, 0);
    return (uint64_t)(listed - addresses);
}
