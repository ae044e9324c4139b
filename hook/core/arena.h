/* Device addresses handed out from one fixed range, so that a replay can have the same ones.
 *
 * Pure book-keeping: which addresses of [base, base + bytes) are taken, as which allocation. No driver is
 * called here; the vendor's half maps physical memory behind what it is given. */
#ifndef NEUTRINO_ARENA_H
#define NEUTRINO_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#define NB_ARENA_GRANULE (2u << 20) /* what physical memory comes in (H200, driver 580) */

struct nb_arena_block {
    uint64_t address;
    uint64_t bytes; /* as asked for */
    uint32_t slot;  /* the call that made it */
    uint32_t flags; /* enum nb_capture_allocation_flag */
};

/* The range is ours from now on. */
void nb_arena_set(uint64_t base, uint64_t bytes) __attribute__((visibility("hidden")));
bool nb_arena_holds(uint64_t address) __attribute__((visibility("hidden")));

/* Calls `visit` for every allocation that lives now, by address, under the arena's lock. */
void nb_arena_each(void (*visit)(const struct nb_arena_block *block, void *context), void *context)
    __attribute__((visibility("hidden")));

#endif
