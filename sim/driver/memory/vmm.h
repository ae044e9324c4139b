/* Virtual memory management: reserved addresses, physical memory, and mappings between them. */
#ifndef NEUTRINO_SIM_VMM_H
#define NEUTRINO_SIM_VMM_H

#include "driver/core/api.h"
#include "driver/core/object.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_GRANULARITY (2u << 20)

struct sim_physical {
    struct sim_object object; /* mappings hold references */
    CUmemAllocationProp properties;
    unsigned long long id;
    size_t bytes;
    int descriptor;
    bool imported;    /* the exporting process counts the memory */
    unsigned handles; /* calls of cuMemCreate and cuMemRetainAllocationHandle minus those of cuMemRelease;
                         under sim_vmm_lock */
};

/* Protects reservations, changes of mappings, and handle counts. */
extern pthread_mutex_t sim_vmm_lock;

static inline bool sim_is_granular(uint64_t value)
{
    return value % SIM_GRANULARITY == 0;
}

struct sim_physical *sim_physical_find(CUmemGenericAllocationHandle handle);

/* Find the reservation that contains `address`. */
bool sim_vmm_find_reservation(uint64_t address, uint64_t *begin, uint64_t *end);

#endif
