/* Virtual memory management: reserved addresses, physical memory and mappings of one to the other. */
#ifndef NEUTRINO_SIM_VMM_H
#define NEUTRINO_SIM_VMM_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_GRANULARITY (2u << 20)

struct sim_physical {
    struct sim_object object; /* a mapping holds a reference */
    CUmemAllocationProp properties;
    unsigned long long id;
    size_t bytes;
    int descriptor;
    bool imported;    /* counted by the process that made it */
    unsigned handles; /* cuMemCreate and cuMemRetainAllocationHandle less cuMemRelease; under sim_vmm_lock */
};

/* Of reservations, of changing mappings and of counts of handles. */
extern pthread_mutex_t sim_vmm_lock;

static inline bool sim_is_granular(uint64_t value)
{
    return value % SIM_GRANULARITY == 0;
}

struct sim_physical *sim_physical_find(CUmemGenericAllocationHandle handle);

/* The reservation that holds `address`. */
bool sim_vmm_reservation(uint64_t address, uint64_t *begin, uint64_t *end);

#endif
