/* Advice for managed memory, by page range. Stored for queries; it has no effect. */
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
    struct sim_place prefetched; /* destination of the last prefetch */
};

enum sim_residency_field {
    SIM_RESIDENCY_READ_MOSTLY,
    SIM_RESIDENCY_ACCESSED_BY_ADD,
    SIM_RESIDENCY_ACCESSED_BY_REMOVE,
    SIM_RESIDENCY_PREFERRED,
    SIM_RESIDENCY_PREFETCHED
};

/* Set one field from `wanted` for all of [begin, end). False: out of memory. */
bool sim_residency_set(uint64_t begin, uint64_t end, enum sim_residency_field field,
                       const struct sim_residency *wanted);

/* The common advice of [begin, end): a flag if it is set everywhere, a place if it is the same everywhere. */
struct sim_residency sim_residency_common(uint64_t begin, uint64_t end);

/* Forget the advice for freed memory. */
void sim_residency_forget(uint64_t begin, uint64_t end);

#endif
