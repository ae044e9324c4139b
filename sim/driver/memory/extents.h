/* Which parts of one range of addresses are free; handed out first fit. The owner locks. */
#ifndef NEUTRINO_SIM_EXTENTS_H
#define NEUTRINO_SIM_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment of everything handed out; a power of two. */
#define SIM_ALIGNMENT 512u

struct sim_extents {
    struct sim_extent *free; /* sorted, never adjacent */
    size_t count;
    size_t capacity;
};

/* All of [begin, end) is free. False: no memory. */
bool sim_extents_start(struct sim_extents *extents, uint64_t begin, uint64_t end);
void sim_extents_end(struct sim_extents *extents);

/* `bytes` as they are handed out; less than `bytes` if that is more than there can be. */
size_t sim_extents_rounded(size_t bytes);

/* Rounded bytes. 0: no extent is large enough. */
uint64_t sim_extents_take(struct sim_extents *extents, size_t size);
void sim_extents_give(struct sim_extents *extents, uint64_t address, size_t size);

#endif
