/* Device memory for blocks of a captured program. */
#ifndef NEUTRINO_CUDA_MEMORY_SERVE_H
#define NEUTRINO_CUDA_MEMORY_SERVE_H

#include <cuda.h>

#include "core/arena/arena.h"

/* Set the block's address and map its memory on the arena's device. If no memory is left, wait for pending
 * blocks. `owner` is a context or a pool. */
CUresult nb_memory_serve(struct nb_arena_block *block) __attribute__((visibility("hidden")));

#endif
