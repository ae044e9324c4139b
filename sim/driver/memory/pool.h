/* Memory pools. What is freed stays the pool's up to its release threshold: as an amount of the device's
 * memory, not as addresses. */
#ifndef NEUTRINO_SIM_POOL_H
#define NEUTRINO_SIM_POOL_H

#include "driver/core/api.h"
#include "driver/memory/extents.h"
#include "driver/core/object.h"
#include "driver/memory/range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct sim_pool {
    struct sim_object object; /* an allocation holds a reference */
    enum sim_memory kind;     /* of device, managed or host memory */
    size_t limit;             /* bytes; 0: the device's */
    atomic_int reuse[3];

    pthread_mutex_t lock; /* of all below */
    unsigned long long release_threshold;
    unsigned long long used, used_high;
    unsigned long long kept; /* reserved beyond what is used */
    unsigned long long reserved_high;

    /* Of a pool that can be exported or has been imported; fixed once made. */
    bool imported;
    int descriptor; /* of its memory, -1: memory of the heap */
    uint64_t base;
    size_t bytes;
    struct sim_extents extents; /* under `lock` */
};

/* A pool with a handle. `shareable`: it can be exported. NULL without memory. */
struct sim_pool *sim_pool_make(size_t limit, enum sim_memory kind, bool shareable);

/* A pool over the memory behind a descriptor, which it takes. */
struct sim_pool *sim_pool_make_imported(int descriptor, size_t bytes);

/* The pool, or NULL if the handle is not valid. */
struct sim_pool *sim_pool_find(CUmemoryPool handle);

/* The pool that comes with each of the three kinds, or the one that is to be used now. */
CUresult sim_pool_of_device(enum sim_memory kind, bool current, CUmemoryPool *pool);
CUresult sim_pool_set_current(CUmemoryPool pool);

/* An allocation of the pool has been freed. */
void sim_pool_gave_back(struct sim_pool *pool, const struct sim_range *range);

/* Keep no more than `bytes` reserved, or what is used. */
void sim_pool_trim(struct sim_pool *pool, unsigned long long bytes);

/* Checks that nearly all calls on pools begin with. */
CUresult sim_pool_check(CUdevice device, const void *out);

#endif
