#ifndef NEUTRINO_SIM_KERNEL_HEAP_H
#define NEUTRINO_SIM_KERNEL_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* ptx_memory.allocate and .release; `context` is a struct sim_context. 0: the heap's limit is reached. */
uint64_t sim_kernel_heap_allocate(void *context, size_t bytes);
void sim_kernel_heap_release(void *context, uint64_t address);

#endif
