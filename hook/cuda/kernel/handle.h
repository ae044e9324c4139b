/* CUDA's handles as the maps of hook/core keep them. */
#ifndef NEUTRINO_CUDA_HANDLE_H
#define NEUTRINO_CUDA_HANDLE_H

#include <stdint.h>

static inline uint64_t nb_handle(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

#endif
