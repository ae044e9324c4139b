/* Device memory for a block of a recorded program. */
#ifndef NEUTRINO_CUDA_MEMORY_SERVE_H
#define NEUTRINO_CUDA_MEMORY_SERVE_H

#include <cuda.h>

#include "core/arena/arena.h"

/* Memory of the arena's device for a block, whose address is set; waits for pending memory if none is left.
 * `owner`: context or pool. */
CUresult nb_memory_serve(struct nb_arena_block *block) __attribute__((visibility("hidden")));

#endif
