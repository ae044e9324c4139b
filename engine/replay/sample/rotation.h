/* How many copies of the state are used in turn, and which one when: pure functions.
 *
 * Entry 0 is the state itself, the others are copies of it. The rules for a count that was asked for, and for
 * whose turn it is, are Composable Kernel's (RotatingMemWrapper, include/ck_tile/host/rotating_buffers.hpp);
 * other than there, all of the state rotates, outputs too, behind addresses that stay. */
#ifndef NEUTRINO_ENGINE_ROTATION_H
#define NEUTRINO_ENGINE_ROTATION_H

#include <stdint.h>

/* As many as it takes until a copy has left the cache when its turn comes again; two at least, which is one
 * copy, and beyond them at most half of what is free. */
uint32_t nb_rotation_by_cache(uint64_t footprint, uint64_t l2_bytes, uint64_t free_bytes)
    __attribute__((visibility("hidden")));

/* What was asked for, where all of them have 2 GiB at most; never none. */
uint32_t nb_rotation_as_asked(uint32_t asked, uint64_t footprint) __attribute__((visibility("hidden")));

/* Of the iteration, from 0: 0, 1, 2, 0, 1, 2 ... */
uint32_t nb_rotation_index(uint64_t iteration, uint32_t count) __attribute__((visibility("hidden")));

#endif
