#ifndef NEUTRINO_SIM_MEMORY_H
#define NEUTRINO_SIM_MEMORY_H

#include "driver/core/api.h"
#include "driver/memory/range.h"

#include <stdbool.h>

struct sim_context;
struct sim_pool;

bool sim_memory_start(void);

/* Device memory with an entry among the ranges. 0: none left. */
uint64_t sim_memory_allocate(enum sim_memory kind, size_t bytes, unsigned flags, struct sim_context *context,
                             struct sim_pool *pool);

/* Free what sim_memory_allocate gave and is of a kind in the bit set `kinds`. False: no such allocation. */
bool sim_memory_free(uint64_t address, unsigned kinds);

/* Everything that the context allocated or registered. */
void sim_memory_free_context(struct sim_context *context);

/* ptx_memory.find */
bool sim_memory_find(void *unused, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable);

#endif
