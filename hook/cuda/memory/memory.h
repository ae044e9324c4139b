/* Device memory of a recorded program, served from the arena (hook/core/arena/arena.h). Where nb_region_wanted().
 */
#ifndef NEUTRINO_CUDA_MEMORY_H
#define NEUTRINO_CUDA_MEMORY_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/arena/arena.h"
#include "core/process/call.h"

/* An address that is never anybody's: what the driver says of it, it says of a wrong pointer. */
#define NB_MEMORY_NOBODY ((CUdeviceptr)4096)

/* Does the arena serve the device of the current context? The first device that is asked for gets it. */
bool nb_memory_serves(CUdevice *device) __attribute__((visibility("hidden")));

/* Could the arena not be reserved? Then all memory is the driver's own. */
bool nb_memory_has_failed(void) __attribute__((visibility("hidden")));

/* Memory of the arena's device for a block, whose address is set. `owner`: context or pool. */
CUresult nb_memory_serve(struct nb_arena_block *block) __attribute__((visibility("hidden")));

/* A block that lives no more, and that nothing queued uses, is space again. */
void nb_memory_give_back(const struct nb_arena_block *block) __attribute__((visibility("hidden")));

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

/* All that was allocated in a context is gone with it. */
void nb_memory_context_gone(uint64_t context) __attribute__((visibility("hidden")));

/* Give back what need not wait any longer; with `wait`, all of it. */
void nb_memory_reap(bool wait) __attribute__((visibility("hidden")));

/* The same, when the device has nothing to do. */
void nb_memory_reap_idle(void) __attribute__((visibility("hidden")));

/* The program's own reservation that holds [address, address + bytes). */
bool nb_memory_reservation(uint64_t address, uint64_t bytes, uint64_t *begin, uint64_t *reserved_bytes)
    __attribute__((visibility("hidden")));

/* memory_query.c: the address of which the driver is asked where the program asks of this one; and what it
 * then says of an attribute, said of the program's own allocation. */
CUdeviceptr nb_memory_asked(CUdeviceptr address) __attribute__((visibility("hidden")));
void nb_memory_correct(CUdeviceptr address, CUpointer_attribute attribute, void *data)
    __attribute__((visibility("hidden")));

/* capture_allocation.c: a block lives no more, maybe in a region. */
void nb_capture_block_ended(const struct nb_arena_block *block) __attribute__((visibility("hidden")));

#endif
