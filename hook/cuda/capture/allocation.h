/* The allocations of a region. */
#ifndef NEUTRINO_CUDA_CAPTURE_ALLOCATION_H
#define NEUTRINO_CUDA_CAPTURE_ALLOCATION_H

#include <stdbool.h>

#include "core/arena/arena.h"
#include "core/process/component.h"

/* A block of the arena was freed, maybe in a region. */
void nb_capture_end_block(const struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* Append an element for every allocation that existed at some time of the region. `stores_after`: the region
 * stored the memory after it. */
void nb_capture_write_allocations(bool stores_after) __attribute__((visibility("hidden")));

extern const struct nb_component nb_capture_allocation_component __attribute__((visibility("hidden")));

#endif
