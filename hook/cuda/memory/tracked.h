/* When the hooks of allocations have to know each of them. */
#ifndef NEUTRINO_CUDA_MEMORY_TRACKED_H
#define NEUTRINO_CUDA_MEMORY_TRACKED_H

#include <stdbool.h>

#include "core/probe/mailbox.h"
#include "core/region/region.h"

/* A capture needs them, or probed kernels get a table of them. */
static inline bool nb_memory_is_tracked(void)
{
    return nb_capture_enabled() || nb_probing();
}

#endif
