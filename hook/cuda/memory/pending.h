/* Freed memory that queued work may still use. If nb_capture_enabled(). */
#ifndef NEUTRINO_CUDA_MEMORY_PENDING_H
#define NEUTRINO_CUDA_MEMORY_PENDING_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/arena/arena.h"
#include "core/process/component.h"

/* Keep a freed block until `event`, recorded on `stream` (its number, 0 if unknown), is complete. Without
 * an event, wait for the whole device. */
void nb_memory_defer(const struct nb_arena_block *block, CUevent event, uint64_t stream)
    __attribute__((visibility("hidden")));

/* Reuse memory that waits for the same stream: that stream's next block can have it at once. */
bool nb_memory_reuse(struct nb_arena_block *block, uint64_t stream) __attribute__((visibility("hidden")));

/* Limit of kept bytes before they are checked. The time at which a stream's work completes differs from
 * run to run, and so would the free addresses. So kept memory is only checked if it exceeds this limit, if
 * the program trims a pool, or if memory is short. */
#define NB_MEMORY_PENDING_MAX ((uint64_t)256 << 20)
uint64_t nb_memory_pending_bytes(void) __attribute__((visibility("hidden")));

/* Release blocks whose work is complete; with `wait`, wait for all blocks. */
void nb_memory_reap(bool wait) __attribute__((visibility("hidden")));

/* Release all blocks. The device must be idle. */
void nb_memory_reap_idle(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_memory_pending_component __attribute__((visibility("hidden")));

#endif
