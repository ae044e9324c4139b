/* The number of rotating copies of the state, and the copy for each sample. Pure functions.
 *
 * Entry 0 is the state itself, the others are copies. The rules for a requested count and for the order are
 * Composable Kernel's (RotatingMemWrapper, include/ck_tile/host/rotating_buffers.hpp). Here all of the state
 * rotates, outputs included, behind constant addresses. */
#ifndef NEUTRINO_ENGINE_ROTATION_H
#define NEUTRINO_ENGINE_ROTATION_H

#include <stdint.h>

/* The number of entries after which a copy has left the cache when it is used again: at least two, and beyond
 * that at most half of free memory. */
uint32_t nb_rotation_by_cache(uint64_t footprint, uint64_t l2_bytes, uint64_t free_bytes)
    __attribute__((visibility("hidden")));

/* The requested number of entries, limited to 2 GiB together; at least one. */
uint32_t nb_rotation_as_asked(uint32_t asked, uint64_t footprint) __attribute__((visibility("hidden")));

/* Entry for an iteration, from 0: 0, 1, 2, 0, 1, 2 ... */
uint32_t nb_rotation_index(uint64_t iteration, uint32_t count) __attribute__((visibility("hidden")));

#endif
