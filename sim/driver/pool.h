/* Memory pools. Memory goes back to the device when a free is reached: a pool keeps counts, not a cache. */
#ifndef NEUTRINO_SIM_POOL_H
#define NEUTRINO_SIM_POOL_H

#include <stddef.h>

struct sim_pool;

/* An allocation of the pool has been freed. */
void sim_pool_gave_back(struct sim_pool *pool, size_t bytes);

#endif
