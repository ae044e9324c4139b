/* Threads take and release space of every kind, and each marks its pieces in a shared table. Prints how
 * many pieces were claimed twice, and how many granules are missing at the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/arena/arena.h"

#define BASE     0x300000000000ull
#define GRANULES 256u
#define PIECES   (GRANULES * (NB_ARENA_GRANULE / NB_ARENA_PIECE))
#define HELD     20

static atomic_bool claimed[PIECES];
static atomic_uint twice;

static void claim(const struct nb_arena_block *block, int value)
{
    const uint64_t first = (block->address - BASE) / NB_ARENA_PIECE;
    for (uint64_t i = 0; i < (block->bytes + NB_ARENA_PIECE - 1) / NB_ARENA_PIECE; i++)
        twice += atomic_exchange(&claimed[first + i], value) == value;
}

static uint64_t space(uint64_t bytes)
{
    if (bytes >= NB_ARENA_SMALL)
        return nb_arena_reserve(bytes, 0, 0);
    const uint64_t address = nb_arena_take(bytes);
    if (address != 0)
        return address;
    const uint64_t granule = nb_arena_reserve(NB_ARENA_GRANULE, 0, 0);
    return granule == 0 ? 0 : nb_arena_share(granule, bytes);
}

static void let_go(struct nb_arena_block *block)
{
    struct nb_arena_block found;
    if (!nb_arena_find(block->address + block->bytes - 1, &found) || found.address != block->address ||
        !nb_arena_remove(block->address, NB_ARENA_MEMORY, &found))
        twice++;
    claim(block, 0);
    if (block->bytes >= NB_ARENA_SMALL) {
        nb_arena_release(block->address, block->bytes);
    } else {
        const uint64_t granule = nb_arena_give(block->address, block->bytes);
        if (granule != 0)
            nb_arena_release(granule, NB_ARENA_GRANULE);
    }
    block->bytes = 0;
}

static void *run(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    struct nb_arena_block held[HELD] = {0};
    for (int i = 0; i < 3000; i++) {
        struct nb_arena_block *block = &held[(unsigned)rand_r(&seed) % HELD];
        if (block->bytes != 0)
            let_go(block);
        const uint64_t bytes = 1 + (unsigned)rand_r(&seed) % (rand_r(&seed) & 1 ? 3u << 20 : 50000u);
        *block = (struct nb_arena_block){.address = space(bytes), .bytes = bytes, .kind = NB_ARENA_MEMORY};
        if (block->address == 0 || !nb_arena_add(block)) {
            block->bytes = 0;
            continue;
        }
        claim(block, 1);
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].bytes != 0)
            let_go(&held[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    nb_arena_configure(BASE, (uint64_t)GRANULES * NB_ARENA_GRANULE);
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    unsigned free_granules = 0;
    while (nb_arena_reserve(NB_ARENA_GRANULE, 0, 0) != 0)
        free_granules++;
    printf("twice %u missing %u\n", atomic_load(&twice), GRANULES - free_granules);
    return 0;
}
