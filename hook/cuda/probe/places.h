/* The places of the maps of a launch in its buffer, and their first content. */
#ifndef NEUTRINO_CUDA_PROBE_PLACES_H
#define NEUTRINO_CUDA_PROBE_PLACES_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "cuda/probe/kernel.h"
#include "cuda/trace/launch_form.h"

/* The counters of a counted map in its launch's buffer. */
struct nb_probe_counts {
    uint64_t position;
    uint64_t items; /* 0: the map is not counted */
};

/* Where the maps of a launch are in its buffer. */
struct nb_probe_places {
    uint64_t of_map[NB_PROBE_MAPS_MAX];
    struct nb_probe_counted counted[NB_PROBE_MAPS_MAX];
    struct nb_probe_counts counts[NB_PROBE_MAPS_MAX];
    uint64_t bytes; /* of all */
    uint64_t table; /* the table of allocations; NB_NO_TABLE if the engine wants none */
    uint32_t table_bytes;
    /* A kernel that is checked against a table may be about to end its context by a wrong access. Its maps
     * survive that in host memory, if they are small: only maps of the launch. */
    bool is_on_host;
};
#define NB_NO_TABLE UINT64_MAX

/* Positions of the maps behind each other. False if they exceed the limit. */
bool nb_probe_place_maps(const struct nb_probe_kernel *kernel, const struct nb_launch_form *launch,
                         struct nb_probe_places *places) __attribute__((visibility("hidden")));

/* Queue the maps' first content. `host` is pinned memory of the launch, so that nothing waits. */
bool nb_probe_fill_maps(const struct nb_probe_kernel *kernel, const struct nb_probe_places *places,
                        CUdeviceptr device, unsigned char *host, CUstream stream)
    __attribute__((visibility("hidden")));

/* Give later launches lists as long as the longest of this one, whose maps are at `host`. */
void nb_probe_learn_entries(struct nb_probe_kernel *kernel, const struct nb_probe_places *places,
                            const unsigned char *host) __attribute__((visibility("hidden")));

#endif
