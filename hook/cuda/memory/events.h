/* Events of device memory, for the code that captures a region. */
#ifndef NEUTRINO_CUDA_MEMORY_EVENTS_H
#define NEUTRINO_CUDA_MEMORY_EVENTS_H

#include "core/arena/arena.h"

struct nb_memory_events {
    void (*block_ended)(const struct nb_arena_block *block); /* a block was freed */
    void (*waited)(void);                                    /* the host has waited for all work */
    void (*lost)(void); /* memory ran out for data that later regions need */
};

/* Called once, by the composition root. */
void nb_memory_install_events(const struct nb_memory_events *events) __attribute__((visibility("hidden")));

const struct nb_memory_events *nb_memory_events(void) __attribute__((visibility("hidden")));

#endif
