/* Recorded memory at its recorded addresses, and what is in it before a sample.
 *
 * `ranges` are the union of all allocations, in whole granules. Each is backed by one physical handle in each
 * of `set_count` sets; the current set is mapped at the recorded addresses. Where there are several, each is
 * also mapped at an alias, so that it can be restored while another one is used. */
#ifndef NEUTRINO_ENGINE_MEMORY_H
#define NEUTRINO_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

struct nb_replay;

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

/* Find the ranges and reserve their addresses: before anything else may take them. */
int nb_memory_reserve(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Decide what each part of the ranges holds. Sizes are known then. */
int nb_memory_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Make `set_count` physical sets and map the first. */
int nb_memory_build(struct nb_replay *replay, uint32_t set_count) __attribute__((visibility("hidden")));

/* Fill the shadow, which is zero, with the recorded content of memory. */
int nb_memory_upload(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* With `strict`, find what lives in the region alone, and queue other noise there: a program may rely on
 * nothing that it finds there, and is to find nothing that it left (temporaries.c). */
int nb_temporaries_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_temporaries_fill(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Map another set at the recorded addresses. The device must be idle. */
int nb_memory_switch(struct nb_replay *replay, uint32_t set) __attribute__((visibility("hidden")));

/* Queue what makes a set pristine. */
int nb_memory_restore(struct nb_replay *replay, uint32_t set, CUstream stream)
    __attribute__((visibility("hidden")));

/* Where a range of a set is, whether it is mapped at the recorded addresses or not. */
CUdeviceptr nb_memory_base(const struct nb_memory *memory, uint32_t set, uint32_t range)
    __attribute__((visibility("hidden")));

/* Where to write `bytes` at a recorded address so that they are in `set`; 0 if no range has them. */
CUdeviceptr nb_memory_at(const struct nb_replay *replay, uint32_t set, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

void nb_memory_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
