/* A first-fit allocator for one range of addresses. The caller locks. */
#ifndef NEUTRINO_SIM_EXTENTS_H
#define NEUTRINO_SIM_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment of all allocations, a power of two. */
#define SIM_ALIGNMENT 512u

struct sim_extents {
    struct sim_extent *free; /* free extents, sorted, never adjacent */
    size_t count;
    size_t capacity;
};

/* All of [begin, end) becomes free. False: out of memory. */
bool sim_extents_start(struct sim_extents *extents, uint64_t begin, uint64_t end);
void sim_extents_end(struct sim_extents *extents);

/* `bytes` rounded up to the alignment. On overflow the result is less than `bytes`. */
size_t sim_extents_round(size_t bytes);

/* Allocate a rounded size. 0: no free extent is large enough. */
uint64_t sim_extents_take(struct sim_extents *extents, size_t size);
void sim_extents_give(struct sim_extents *extents, uint64_t address, size_t size);

#endif
