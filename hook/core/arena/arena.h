/* Device addresses handed out from one fixed range, so that a replay can have the same ones.
 *
 * Pure book-keeping: which addresses of [base, base + bytes) are taken, as which allocation. No driver is
 * called here; the vendor's half maps physical memory behind what it is given.
 *
 * Space and blocks are two things. Space is taken first and given back last, so that no address is handed out
 * while memory is still mapped there; a block lives in between. */
#ifndef NEUTRINO_ARENA_H
#define NEUTRINO_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

#define NB_ARENA_GRANULE (2u << 20) /* what physical memory comes in (H200, driver 580) */
#define NB_ARENA_PIECE   512u       /* small blocks share a granule, in multiples of this */
#define NB_ARENA_SMALL   (1u << 20) /* from here on a block has granules of its own */

enum nb_arena_kind {
    NB_ARENA_MEMORY = 1, /* allocated: the memory behind it is ours */
    NB_ARENA_MAPPING = 2 /* the program mapped memory of its own to addresses that it reserved */
};

struct nb_arena_block {
    uint64_t address;
    uint64_t bytes;  /* as asked for */
    uint32_t slot;   /* the call that made it */
    uint32_t flags;  /* enum nb_capture_allocation_flag */
    uint64_t owner;  /* the vendor's: whose it is */
    uint64_t number; /* of all blocks ever made, from 1; set by nb_arena_add */
    uint32_t kind;   /* enum nb_arena_kind */
    uint32_t pooled; /* the owner is a memory pool, not a context */
};

/* The range is ours from now on; both are multiples of NB_ARENA_GRANULE. False without memory. */
bool nb_arena_set(uint64_t base, uint64_t bytes) __attribute__((visibility("hidden")));
bool nb_arena_holds(uint64_t address) __attribute__((visibility("hidden")));
uint64_t nb_arena_base(void) __attribute__((visibility("hidden")));
uint64_t nb_arena_bytes(void) __attribute__((visibility("hidden")));

/* Space of whole granules, at `hint` if that is not 0, else the lowest. 0: there is none, or not there. */
uint64_t nb_arena_reserve(uint64_t bytes, uint64_t alignment, uint64_t hint)
    __attribute__((visibility("hidden")));
void nb_arena_release(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Space for a small block in a granule that is shared already; 0: none has room. */
uint64_t nb_arena_take(uint64_t bytes) __attribute__((visibility("hidden")));

/* Share a granule, whose space the caller has and where memory is mapped: space in it for a small block, 0
 * without memory. */
uint64_t nb_arena_share(uint64_t granule, uint64_t bytes) __attribute__((visibility("hidden")));

/* Give back the space of a small block. A granule that nothing shares any more is the caller's again: its
 * address, or 0. One empty granule is kept for the next block. */
uint64_t nb_arena_give(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* A block begins to live, in space that the caller has. False without memory. */
bool nb_arena_add(struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* The block of that kind that begins there lives no more. False: there is none. */
bool nb_arena_remove(uint64_t address, enum nb_arena_kind kind, struct nb_arena_block *block)
    __attribute__((visibility("hidden")));

/* The block that holds the address. */
bool nb_arena_find(uint64_t address, struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* Do the blocks that live now, those that touch taken together, hold all of these bytes? */
bool nb_arena_covers(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Calls `visit` for every allocation that lives now, by address, under the arena's lock. */
void nb_arena_each(void (*visit)(const struct nb_arena_block *block, void *context), void *context)
    __attribute__((visibility("hidden")));

/* How many blocks were ever made. */
uint64_t nb_arena_made(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_arena_component __attribute__((visibility("hidden")));

#endif
