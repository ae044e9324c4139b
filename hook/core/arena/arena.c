#include "core/arena/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bitmap.h"
#include "core/base/ranges.h"

#define PIECES (NB_ARENA_GRANULE / NB_ARENA_PIECE)

/* A granule with small blocks in it. */
struct shared_granule {
    uint64_t address;
    uint64_t bytes; /* NB_ARENA_GRANULE */
    uint32_t taken; /* pieces */
    uint32_t reserved;
    uint64_t bits[NB_BITMAP_WORDS(PIECES)];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t base, size; /* read without the lock; `size` is set first */
static uint64_t *granules;          /* one bit a granule: 1 is taken */
static uint64_t blocks_made;
static struct nb_ranges shared_granules = NB_RANGES_INITIALIZER(struct shared_granule);
static struct nb_ranges blocks = NB_RANGES_INITIALIZER(struct nb_arena_block);

bool nb_arena_configure(uint64_t new_base, uint64_t bytes)
{
    uint64_t *bits = calloc(NB_BITMAP_WORDS(bytes / NB_ARENA_GRANULE), sizeof *bits);
    if (bits == NULL)
        return false;
    granules = bits;
    atomic_store_explicit(&size, bytes, memory_order_relaxed);
    atomic_store_explicit(&base, new_base, memory_order_release);
    return true;
}

uint64_t nb_arena_base(void)
{
    return atomic_load_explicit(&base, memory_order_acquire);
}

uint64_t nb_arena_bytes(void)
{
    return atomic_load_explicit(&size, memory_order_relaxed);
}

bool nb_arena_contains(uint64_t address)
{
    const uint64_t first = nb_arena_base();
    return first != 0 && address - first < nb_arena_bytes();
}

static size_t count_granules(uint64_t bytes)
{
    return (size_t)(bytes / NB_ARENA_GRANULE + (bytes % NB_ARENA_GRANULE != 0));
}

static size_t granule_index(uint64_t address)
{
    return (size_t)((address - nb_arena_base()) / NB_ARENA_GRANULE);
}

static uint64_t take_granules(size_t length, uint64_t alignment, uint64_t hint)
{
    const size_t count = granule_index(nb_arena_base() + nb_arena_bytes());
    size_t at;
    if (hint != 0) {
        at = granule_index(hint);
        if (!nb_arena_contains(hint) || hint % NB_ARENA_GRANULE != 0 || length > count - at ||
            nb_bitmap_next(granules, at, at + length, 0) != at + length)
            return 0;
    } else {
        const uint64_t step = alignment > NB_ARENA_GRANULE ? alignment / NB_ARENA_GRANULE : 1;
        at = nb_bitmap_find(granules, count, length, (size_t)step);
        if (at == count)
            return 0;
    }
    nb_bitmap_set(granules, at, length, 1);
    return nb_arena_base() + (uint64_t)at * NB_ARENA_GRANULE;
}

uint64_t nb_arena_reserve(uint64_t bytes, uint64_t alignment, uint64_t hint)
{
    if (nb_arena_base() == 0 || bytes == 0 || (alignment & (alignment - 1)) != 0 ||
        nb_arena_base() % (alignment != 0 ? alignment : 1) != 0)
        return 0;
    pthread_mutex_lock(&lock);
    const uint64_t address = take_granules(count_granules(bytes), alignment, hint);
    pthread_mutex_unlock(&lock);
    return address;
}

void nb_arena_release(uint64_t address, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    nb_bitmap_set(granules, granule_index(address), count_granules(bytes), 0);
    pthread_mutex_unlock(&lock);
}

static uint32_t count_pieces(uint64_t bytes)
{
    return (uint32_t)((bytes + NB_ARENA_PIECE - 1) / NB_ARENA_PIECE);
}

static uint64_t take_pieces(struct shared_granule *granule, uint32_t pieces)
{
    const size_t at =
        pieces <= PIECES - granule->taken ? nb_bitmap_find(granule->bits, PIECES, pieces, 1) : PIECES;
    if (at == PIECES)
        return 0;
    nb_bitmap_set(granule->bits, at, pieces, 1);
    granule->taken += pieces;
    return granule->address + (uint64_t)at * NB_ARENA_PIECE;
}

uint64_t nb_arena_take(uint64_t bytes)
{
    uint64_t address = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; address == 0 && i < nb_ranges_count(&shared_granules); i++)
        address = take_pieces(nb_ranges_item(&shared_granules, i), count_pieces(bytes));
    pthread_mutex_unlock(&lock);
    return address;
}

uint64_t nb_arena_share(uint64_t granule, uint64_t bytes)
{
    struct shared_granule granule_item = {.address = granule, .bytes = NB_ARENA_GRANULE};
    const uint64_t address = take_pieces(&granule_item, count_pieces(bytes));
    pthread_mutex_lock(&lock);
    const bool is_added = nb_ranges_add(&shared_granules, &granule_item);
    pthread_mutex_unlock(&lock);
    return is_added ? address : 0;
}

/* Is another shared granule empty? */
static bool is_another_empty(const struct shared_granule *granule)
{
    for (size_t i = 0; i < nb_ranges_count(&shared_granules); i++) {
        const struct shared_granule *other = nb_ranges_item(&shared_granules, i);
        if (other != granule && other->taken == 0)
            return true;
    }
    return false;
}

uint64_t nb_arena_give(uint64_t address, uint64_t bytes)
{
    uint64_t empty = 0;
    pthread_mutex_lock(&lock);
    struct shared_granule *granule = nb_ranges_find(&shared_granules, address);
    if (granule != NULL) {
        nb_bitmap_set(granule->bits, (address - granule->address) / NB_ARENA_PIECE, count_pieces(bytes), 0);
        granule->taken -= count_pieces(bytes);
        if (granule->taken == 0 && is_another_empty(granule)) {
            empty = granule->address;
            nb_ranges_remove(&shared_granules, granule);
        }
    }
    pthread_mutex_unlock(&lock);
    return empty;
}

bool nb_arena_add(struct nb_arena_block *block)
{
    pthread_mutex_lock(&lock);
    block->number = blocks_made + 1;
    const bool added = nb_ranges_add(&blocks, block);
    blocks_made += added;
    pthread_mutex_unlock(&lock);
    return added;
}

bool nb_arena_remove(uint64_t address, enum nb_arena_kind kind, struct nb_arena_block *block)
{
    pthread_mutex_lock(&lock);
    struct nb_arena_block *known_block = nb_ranges_find(&blocks, address);
    const bool removed = known_block != NULL && known_block->address == address && known_block->kind == kind;
    if (removed) {
        *block = *known_block;
        nb_ranges_remove(&blocks, known_block);
    }
    pthread_mutex_unlock(&lock);
    return removed;
}

bool nb_arena_find(uint64_t address, struct nb_arena_block *block)
{
    if (!nb_arena_contains(address))
        return false;
    pthread_mutex_lock(&lock);
    const struct nb_arena_block *known_block = nb_ranges_find(&blocks, address);
    if (known_block != NULL)
        *block = *known_block;
    pthread_mutex_unlock(&lock);
    return known_block != NULL;
}

bool nb_arena_covers(uint64_t address, uint64_t bytes)
{
    const struct nb_arena_block *block = NULL;
    uint64_t covered = 0;
    if (!nb_arena_contains(address))
        return false;
    pthread_mutex_lock(&lock);
    while (covered < bytes && (block = nb_ranges_find(&blocks, address + covered)) != NULL)
        covered = block->address + block->bytes - address;
    pthread_mutex_unlock(&lock);
    return covered >= bytes;
}

void nb_arena_each(void (*visit)(const struct nb_arena_block *block, void *context), void *context)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nb_ranges_count(&blocks); i++)
        visit(nb_ranges_item(&blocks, i), context);
    pthread_mutex_unlock(&lock);
}

uint64_t nb_arena_count_made(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t granule_item = blocks_made;
    pthread_mutex_unlock(&lock);
    return granule_item;
}

const struct nb_component nb_arena_component = {.locks = {&lock}};
