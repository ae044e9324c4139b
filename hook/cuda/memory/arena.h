/* Physical memory behind addresses of the arena (hook/core/arena.h). Where nb_region_wanted(). */
#ifndef NEUTRINO_CUDA_MEMORY_ARENA_H
#define NEUTRINO_CUDA_MEMORY_ARENA_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/arena/arena.h"
#include "core/process/component.h"

/* An address that is never anybody's: what the driver says of it, it says of a wrong pointer. */
#define NB_MEMORY_NOBODY ((CUdeviceptr)4096)

/* Does the arena serve the device of the current context? The first device that is asked for gets it. */
bool nb_memory_serves(CUdevice *device) __attribute__((visibility("hidden")));

/* Could the arena not be reserved? Then all memory is the driver's own. */
bool nb_memory_has_failed(void) __attribute__((visibility("hidden")));

/* An address for the block, with physical memory behind it. */
CUresult nb_memory_back(struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* A block that lives no more, and that nothing queued uses, is space again. */
void nb_memory_give_back(const struct nb_arena_block *block) __attribute__((visibility("hidden")));

extern const struct nb_component nb_memory_arena_component __attribute__((visibility("hidden")));

#endif
