/* Memory pools. Freed memory stays reserved for the pool up to its release threshold, as an amount of device
 * memory, not as addresses. */
#ifndef NEUTRINO_SIM_POOL_H
#define NEUTRINO_SIM_POOL_H

#include "driver/core/api.h"
#include "driver/core/object.h"
#include "driver/memory/extents.h"
#include "driver/memory/range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct sim_pool {
    struct sim_object object; /* an allocation holds a reference */
    enum sim_memory kind;     /* of device, managed or host memory */
    size_t limit;             /* bytes; 0: limited by the device */
    atomic_int reuse[3];

    pthread_mutex_t lock; /* protects the members below */
    unsigned long long release_threshold;
    unsigned long long used, used_high;
    unsigned long long spare; /* reserved but unused bytes */
    unsigned long long reserved_high;

    /* For pools that can be exported or were imported; constant. */
    bool imported;
    int descriptor; /* of the memory; -1: memory from the heap */
    uint64_t base;
    size_t bytes;
    struct sim_extents extents; /* under `lock` */
};

/* A published pool. `shareable`: it can be exported. NULL: out of memory. */
struct sim_pool *sim_pool_make(size_t limit, enum sim_memory kind, bool shareable);

/* An imported pool over a descriptor's memory. Takes the descriptor. */
struct sim_pool *sim_pool_make_imported(int descriptor, size_t bytes);

/* NULL if the handle is invalid. */
struct sim_pool *sim_pool_find(CUmemoryPool handle);

/* The default or the current pool of a kind of memory. */
CUresult sim_pool_of_device(enum sim_memory kind, bool current, CUmemoryPool *pool);
CUresult sim_pool_set_current(CUmemoryPool pool);

/* Allocate and count `bytes`. 0: the limit of the pool or the memory of the device is reached. */
uint64_t sim_pool_take(struct sim_pool *pool, size_t bytes);

/* Withdraw the pool. CUDA_ERROR_INVALID_VALUE for an invalid handle and for the default pools. */
CUresult sim_pool_destroy(CUmemoryPool pool);

/* Account for a freed allocation of the pool. */
void sim_pool_give_back(struct sim_pool *pool, const struct sim_range *range);

/* Release reserved memory until at most `bytes`, or the used bytes, remain. */
void sim_pool_trim(struct sim_pool *pool, unsigned long long bytes);

/* Common checks of calls on pools. */
CUresult sim_pool_check(CUdevice device, const void *out);

#endif
