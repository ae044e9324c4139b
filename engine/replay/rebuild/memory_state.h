/* The part of struct nb_replay that belongs to memory.h. */
#ifndef NEUTRINO_ENGINE_MEMORY_STATE_H
#define NEUTRINO_ENGINE_MEMORY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

#define NB_NOWHERE UINT64_MAX

struct nb_range {
    CUdeviceptr address;
    uint64_t bytes;
    uint64_t start; /* bytes of all ranges before this one: its offset in an alias */
};

/* Reserved addresses, for one range or several. */
struct nb_reservation {
    CUdeviceptr address;
    uint64_t bytes;
};

/* A part of a range: content from `shadow` on, or zeros for NB_NOWHERE. */
struct nb_piece {
    uint32_t range;
    uint64_t offset;
    uint64_t bytes;
    uint64_t shadow;
};

/* Memory that is allocated within the region. */
struct nb_temporary {
    CUdeviceptr address;
    uint64_t bytes;
};

struct nb_set {
    CUmemGenericAllocationHandle *handles; /* one per range; the first `created` exist */
    uint32_t created;
    uint32_t aliased;  /* ranges that are mapped at the alias */
    CUdeviceptr alias; /* 0: none */
    bool stale;        /* the region ran on it */
};

struct nb_memory {
    CUmemAllocationProp physical;
    uint64_t granule;
    struct nb_reservation *reservations;
    uint32_t reservation_count;
    struct nb_range *ranges;
    uint32_t range_count;
    uint64_t mapped_bytes;
    struct nb_piece *pieces;
    uint32_t piece_count, piece_room;
    struct nb_temporary *temporaries;
    uint32_t temporary_count;
    CUdeviceptr shadow;
    uint64_t shadow_bytes;
    CUmemGenericAllocationHandle pad; /* physical memory before that of the sets, never mapped */
    bool has_pad;
    struct nb_set *sets;
    uint32_t set_count;
    uint32_t current; /* the set that is mapped at the addresses */
    uint32_t mapped;  /* ranges of it that are mapped */
};

#endif
