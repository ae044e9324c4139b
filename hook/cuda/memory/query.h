/* Corrects the driver's answers about addresses: the driver knows the arena's mappings, and the program
 * expects its own allocations. */
#ifndef NEUTRINO_CUDA_MEMORY_QUERY_H
#define NEUTRINO_CUDA_MEMORY_QUERY_H

#include <cuda.h>

/* Return the address to ask the driver about when the program asks about this one. Then replace the
 * driver's answer for an attribute by the value for the program's own allocation. */
CUdeviceptr nb_memory_address_to_ask(CUdeviceptr address) __attribute__((visibility("hidden")));
void nb_memory_correct(CUdeviceptr address, CUpointer_attribute attribute, void *data)
    __attribute__((visibility("hidden")));

#endif
