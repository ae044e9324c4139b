/* Device addresses handed out from one fixed range, so that a replay can use the same addresses.
 *
 * This is book-keeping only: it tracks which addresses of [base, base + bytes) are taken, and by which
 * block. It calls no driver; hook/cuda/memory maps physical memory behind the addresses.
 *
 * Space and blocks are separate. Space is taken before a block is added and released after the block is
 * removed, so no address is handed out while memory is still mapped there. */
#ifndef NEUTRINO_ARENA_H
#define NEUTRINO_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/process/component.h"

#define NB_ARENA_GRANULE (2u << 20) /* size unit of physical memory (H200, driver 580) */
#define NB_ARENA_PIECE   512u       /* size unit of small blocks inside a shared granule */
#define NB_ARENA_SMALL   (1u << 20) /* a block of this size or more has granules of its own */

enum nb_arena_kind {
    NB_ARENA_MEMORY = 1, /* an allocation: the shim mapped its memory */
    NB_ARENA_MAPPING = 2 /* the program mapped its own memory to addresses that it reserved */
};

struct nb_arena_block {
    uint64_t address;
    uint64_t bytes;  /* requested size */
    uint32_t slot;   /* export that made the block */
    uint32_t flags;  /* enum nb_capture_allocation_flag */
    uint64_t owner;  /* the vendor's handle of the context or pool */
    uint64_t number; /* counts all blocks ever made, from 1; set by nb_arena_add */
    uint32_t kind;   /* enum nb_arena_kind */
    uint32_t pooled; /* the owner is a memory pool, not a context */
};

/* Use this range. Both values are multiples of NB_ARENA_GRANULE. False if memory runs out. */
bool nb_arena_configure(uint64_t base, uint64_t bytes) __attribute__((visibility("hidden")));
bool nb_arena_contains(uint64_t address) __attribute__((visibility("hidden")));
uint64_t nb_arena_base(void) __attribute__((visibility("hidden")));
uint64_t nb_arena_bytes(void) __attribute__((visibility("hidden")));

/* Take space of whole granules: at `hint` unless it is 0, else at the lowest free address. Returns 0 if
 * that space is not free. */
uint64_t nb_arena_reserve(uint64_t bytes, uint64_t alignment, uint64_t hint)
    __attribute__((visibility("hidden")));
void nb_arena_release(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Take space for a small block in a granule that is already shared. Returns 0 if no granule has room. */
uint64_t nb_arena_take(uint64_t bytes) __attribute__((visibility("hidden")));

/* Share a granule whose space the caller holds and where memory is mapped. Returns space in it for a small
 * block, or 0 if memory runs out. */
uint64_t nb_arena_share(uint64_t granule, uint64_t bytes) __attribute__((visibility("hidden")));

/* Release the space of a small block. Returns the granule's address if the granule is now empty and the
 * caller must unmap it, else 0. One empty granule stays for the next block. */
uint64_t nb_arena_give(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Add a block in space that the caller holds. False if memory runs out. */
bool nb_arena_add(struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* Remove the block of this kind that begins at the address. False if no such block exists. */
bool nb_arena_remove(uint64_t address, enum nb_arena_kind kind, struct nb_arena_block *block)
    __attribute__((visibility("hidden")));

/* Find the block that contains the address. */
bool nb_arena_find(uint64_t address, struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* Do the existing blocks, adjacent ones taken together, cover all of these bytes? */
bool nb_arena_covers(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* Call `visit` for every block, sorted by address, under the arena's lock. */
void nb_arena_each(void (*visit)(const struct nb_arena_block *block, void *context), void *context)
    __attribute__((visibility("hidden")));

/* Number of blocks ever made. */
uint64_t nb_arena_count_made(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_arena_component __attribute__((visibility("hidden")));

#endif
