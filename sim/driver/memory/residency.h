/* What has been advised about managed memory, by page range. Nothing here acts on it; it can be asked for. */
#ifndef NEUTRINO_SIM_RESIDENCY_H
#define NEUTRINO_SIM_RESIDENCY_H

#include "driver/core/api.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_ACCESSED_BY_DEVICE 1u
#define SIM_ACCESSED_BY_HOST   2u

struct sim_place {
    CUmemLocationType type; /* CU_MEM_LOCATION_TYPE_INVALID: none */
    int id;
};

struct sim_residency {
    bool read_mostly;
    unsigned accessed_by;
    struct sim_place preferred;
    struct sim_place prefetched; /* to which the last prefetch went */
};

enum sim_residency_field {
    SIM_RESIDENCY_READ_MOSTLY,
    SIM_RESIDENCY_ACCESSED_BY_ADD,
    SIM_RESIDENCY_ACCESSED_BY_REMOVE,
    SIM_RESIDENCY_PREFERRED,
    SIM_RESIDENCY_PREFETCHED
};

/* Set one field, from `wanted`, for all of [begin, end). False: no memory to say so. */
bool sim_residency_set(uint64_t begin, uint64_t end, enum sim_residency_field field,
                       const struct sim_residency *wanted);

/* What holds for all of [begin, end): a flag where every byte has it, a place where all have the same. */
struct sim_residency sim_residency_common(uint64_t begin, uint64_t end);

/* The memory has been freed. */
void sim_residency_forget(uint64_t begin, uint64_t end);

#endif
