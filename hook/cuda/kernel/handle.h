/* CUDA's handles as keys of the maps in hook/core. */
#ifndef NEUTRINO_CUDA_HANDLE_H
#define NEUTRINO_CUDA_HANDLE_H

#include <stdint.h>

static inline uint64_t nb_handle(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

#endif
