/* What the driver says of an address, told of the program's own allocation: the driver knows the arena's. */
#ifndef NEUTRINO_CUDA_MEMORY_QUERY_H
#define NEUTRINO_CUDA_MEMORY_QUERY_H

#include <cuda.h>

/* The address of which the driver is asked where the program asks of this one; and what it
 * then says of an attribute, said of the program's own allocation. */
CUdeviceptr nb_memory_asked(CUdeviceptr address) __attribute__((visibility("hidden")));
void nb_memory_correct(CUdeviceptr address, CUpointer_attribute attribute, void *data)
    __attribute__((visibility("hidden")));

#endif
