/* Code that hipcc's constructors registered: kernels by their host stubs, globals by their host shadows. */
#ifndef NEUTRINO_HIP_REGISTERED_H
#define NEUTRINO_HIP_REGISTERED_H

#include <stdint.h>

#include "core/base/handle_map.h"

struct nb_registered {
    uint64_t binary;     /* the handle from __hipRegisterFatBinary */
    const void *address; /* of the host stub or the host shadow */
    char name[];         /* on the device */
};

extern struct nb_handle_map nb_registered_kernels __attribute__((visibility("hidden")));

static inline const struct nb_registered *nb_registered_kernel(uint64_t stub)
{
    return nb_handle_map_get(&nb_registered_kernels, stub);
}

/* Adds the code to the binmap if possible: a forked process does not have its parent's. */
void nb_registered_load(uint64_t binary) __attribute__((visibility("hidden")));

#endif
