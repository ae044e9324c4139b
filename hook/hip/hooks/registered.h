/* What hipcc's constructors registered: code, its kernels by their host stubs, its variables by their
 * shadows. */
#ifndef NEUTRINO_HIP_REGISTERED_H
#define NEUTRINO_HIP_REGISTERED_H

#include <stdint.h>

#include "core/base/handle_map.h"

struct nb_registered {
    uint64_t binary;     /* what __hipRegisterFatBinary gave */
    const void *address; /* of the stub or the shadow */
    char name[];         /* on the device */
};

extern struct nb_handle_map nb_registered_kernels __attribute__((visibility("hidden")));

static inline const struct nb_registered *nb_registered_kernel(uint64_t stub)
{
    return nb_handle_map_get(&nb_registered_kernels, stub);
}

/* The code is in the binmap, if it can be: a process that was forked does not have its parent's. */
void nb_registered_load(uint64_t binary) __attribute__((visibility("hidden")));

#endif
