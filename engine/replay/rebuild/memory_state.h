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
    uint64_t start; /* of all the bytes before it: where it is in an alias */
};

/* Addresses that are ours, for one range or many. */
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

/* A stretch of memory that was not there when the region began. */
struct nb_temporary {
    CUdeviceptr address;
    uint64_t bytes;
};

struct nb_set {
    CUmemGenericAllocationHandle *handles; /* one a range; `created` of them are */
    uint32_t created;
    uint32_t aliased;  /* ranges that are mapped at the alias */
    CUdeviceptr alias; /* 0: none */
    bool stale;        /* was used */
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
    struct nb_set *sets;
    uint32_t set_count;
    uint32_t current; /* the set that is mapped at the addresses */
    uint32_t mapped;  /* ranges of it that are */
};

#endif
