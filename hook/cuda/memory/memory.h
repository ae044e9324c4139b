/* Allocations of device memory that have no stream. */
#ifndef NEUTRINO_CUDA_MEMORY_H
#define NEUTRINO_CUDA_MEMORY_H

#include <stdint.h>

/* Forget all allocations of a destroyed context. */
void nb_memory_forget_context(uint64_t context) __attribute__((visibility("hidden")));

#endif
