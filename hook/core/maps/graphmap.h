/* Executable graphs. One call launches all their kernels, so the kernels are listed at instantiation. */
#ifndef NEUTRINO_GRAPHMAP_H
#define NEUTRINO_GRAPHMAP_H

#include <stdint.h>

#include "core/process/component.h"

struct nb_graph_kernel {
    uint64_t node;
    uint64_t function; /* changes with the node's parameters: read it atomically */
};

struct nb_graph_entry {
    uint64_t number; /* in this process */
    uint32_t nodes;  /* of every kind */
    uint32_t opaque; /* nodes whose kernels could not be listed; grows when a child graph is replaced */
    uint32_t kernel_count;
    struct nb_graph_kernel kernels[]; /* by position */
};

/* Return a number for a graph that is about to be listed. */
uint64_t nb_graphmap_next_number(void) __attribute__((visibility("hidden")));

/* Takes ownership of `entry`, which is never freed: another thread may be reading it (handle_map.h). */
void nb_graphmap_set(uint64_t handle, struct nb_graph_entry *entry) __attribute__((visibility("hidden")));
struct nb_graph_entry *nb_graphmap_get(uint64_t handle) __attribute__((visibility("hidden")));

extern const struct nb_component nb_graphmap_component __attribute__((visibility("hidden")));

#endif
