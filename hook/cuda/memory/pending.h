/* Memory that was freed and that queued work may still use. Where nb_region_wanted(). */
#ifndef NEUTRINO_CUDA_MEMORY_PENDING_H
#define NEUTRINO_CUDA_MEMORY_PENDING_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/arena/arena.h"
#include "core/process/component.h"

/* A block that lives no more waits until what `stream` (its number, 0: unknown) has before `event` is done;
 * without an event, for the whole device. */
void nb_memory_defer(const struct nb_arena_block *block, CUevent event, uint64_t stream)
    __attribute__((visibility("hidden")));

/* Memory that waits for the same stream can be used by that stream's next block at once. */
bool nb_memory_reuse(struct nb_arena_block *block, uint64_t stream) __attribute__((visibility("hidden")));

/* How much waits. When a stream's work is done differs from run to run, and with it which addresses are free:
 * so what waits is asked about only if it is much, the program trims a pool, or memory is short. */
#define NB_MEMORY_PENDING_MAX ((uint64_t)256 << 20)
uint64_t nb_memory_pending_bytes(void) __attribute__((visibility("hidden")));

/* Give back what need not wait any longer; with `wait`, all of it. */
void nb_memory_reap(bool wait) __attribute__((visibility("hidden")));

/* The same, when the device has nothing to do. */
void nb_memory_reap_idle(void) __attribute__((visibility("hidden")));

extern const struct nb_component nb_memory_pending_component __attribute__((visibility("hidden")));

#endif
