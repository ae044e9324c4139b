/* Maps physical memory behind addresses of the arena (hook/core/arena). If nb_capture_enabled(). */
#ifndef NEUTRINO_CUDA_MEMORY_ARENA_H
#define NEUTRINO_CUDA_MEMORY_ARENA_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/arena/arena.h"
#include "core/process/component.h"

/* A deliberately invalid pointer for probing: the driver answers as for any wrong pointer. */
#define NB_MEMORY_INVALID_POINTER ((CUdeviceptr)4096)

/* Does the arena serve the device of the current context? The first device used gets the arena. */
bool nb_memory_is_served(CUdevice *device) __attribute__((visibility("hidden")));

/* True if the arena could not be reserved. All memory is then the driver's. */
bool nb_memory_has_failed(void) __attribute__((visibility("hidden")));

/* Set the block's address and map physical memory behind it. */
CUresult nb_memory_map_block(struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* Release the space of a freed block that no queued work uses. */
void nb_memory_give_back(const struct nb_arena_block *block) __attribute__((visibility("hidden")));

extern const struct nb_component nb_memory_arena_component __attribute__((visibility("hidden")));

#endif
