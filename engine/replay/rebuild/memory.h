/* Recorded memory at its recorded addresses, and its content before a sample.
 *
 * `ranges` are the union of all allocations, in whole granules. Each range is backed by one physical handle
 * in each of `set_count` sets; the current set is mapped at the recorded addresses. If there are several
 * sets, each is also mapped at an alias, so that one set can be restored while another is used. */
#ifndef NEUTRINO_ENGINE_MEMORY_H
#define NEUTRINO_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/rebuild/memory_state.h"

struct nb_replay;

/* Find the ranges and reserve their addresses. Must precede all other allocations. */
int nb_memory_reserve(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Decide the content of each part of the ranges; afterwards sizes are known. */
int nb_memory_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Make `set_count` physical sets and map the first. `noise` decides where their physical memory begins. */
int nb_memory_build(struct nb_replay *replay, uint32_t set_count, uint64_t noise)
    __attribute__((visibility("hidden")));

/* Fill the shadow, which is zero, with the recorded content of memory. */
int nb_memory_upload(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* With `strict`, find memory that is allocated and freed within the region, and queue other noise there for
 * each sample: the region can neither rely on its content nor find what an earlier sample left
 * (temporaries.c). */
int nb_temporaries_plan(struct nb_replay *replay) __attribute__((visibility("hidden")));
int nb_temporaries_fill(struct nb_replay *replay) __attribute__((visibility("hidden")));

/* Map another set at the recorded addresses. The device must be idle. */
int nb_memory_switch(struct nb_replay *replay, uint32_t set) __attribute__((visibility("hidden")));

/* Queue copies that restore a set. */
int nb_memory_restore(struct nb_replay *replay, uint32_t set, CUstream stream)
    __attribute__((visibility("hidden")));

/* Address of a range of a set, mapped at the recorded addresses or not. */
CUdeviceptr nb_memory_base(const struct nb_memory *memory, uint32_t set, uint32_t range)
    __attribute__((visibility("hidden")));

/* Address at which `bytes` of a recorded address are in `set`; 0 if no range holds them. */
CUdeviceptr nb_memory_at(const struct nb_replay *replay, uint32_t set, uint64_t address, uint64_t bytes)
    __attribute__((visibility("hidden")));

void nb_memory_close(struct nb_replay *replay) __attribute__((visibility("hidden")));

#endif
