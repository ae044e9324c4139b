/* From a launch's function handle to the description of its kernel. */
#ifndef NEUTRINO_CUDA_FUNCTION_H
#define NEUTRINO_CUDA_FUNCTION_H

#include <cuda.h>

#include "core/maps/funcmap.h"
#include "core/ring/ring.h"
#include "cuda/kernel/handle.h"

/* Return the description if the kernel was launched before, else NULL. */
static inline const struct nb_description *nb_find_description(CUfunction handle)
{
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    return function != NULL ? atomic_load_explicit(&function->description, memory_order_acquire) : NULL;
}

/* The same, but describe the kernel at its first launch with the driver's help. Call before the launch,
 * inside a traced call. NULL if the ring had no room for the kernel's record. */
const struct nb_description *nb_describe(struct nb_thread *thread, CUfunction handle)
    __attribute__((visibility("hidden")));

#endif
