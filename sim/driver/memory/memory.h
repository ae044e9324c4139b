#ifndef NEUTRINO_SIM_MEMORY_H
#define NEUTRINO_SIM_MEMORY_H

#include "driver/core/api.h"
#include "driver/memory/range.h"

#include <stdbool.h>

struct sim_context;

/* The kinds that cuMemFree frees, as a bit set. */
#define SIM_MEMORY_FREEABLE (1u << SIM_MEMORY_DEVICE | 1u << SIM_MEMORY_MANAGED)

bool sim_memory_start(void);

/* Allocate device memory and add its range. 0: out of memory. */
uint64_t sim_memory_allocate(enum sim_memory kind, size_t bytes, unsigned flags, struct sim_context *context);

/* Free an allocation of a kind in the bit set `kinds`. False: no such allocation begins at `address`. */
bool sim_memory_free(uint64_t address, unsigned kinds);

/* Free all allocations and registrations of the context. */
void sim_memory_free_context(struct sim_context *context);

/* ptx_memory.find */
bool sim_memory_find(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable);

#endif
