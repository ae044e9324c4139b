/* Allocations of device memory that have no stream. */
#ifndef NEUTRINO_CUDA_MEMORY_H
#define NEUTRINO_CUDA_MEMORY_H

#include <stdint.h>

/* All that was allocated in a context is gone with it. */
void nb_memory_context_gone(uint64_t context) __attribute__((visibility("hidden")));

#endif
