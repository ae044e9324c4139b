/* From the handle that a launch names to what is known of its kernel. */
#ifndef NEUTRINO_CUDA_FUNCTION_H
#define NEUTRINO_CUDA_FUNCTION_H

#include <cuda.h>

#include "core/maps/funcmap.h"
#include "core/ring/ring.h"
#include "cuda/kernel/handle.h"

/* The kernel's number and parameter layout if it was launched before, else NULL. */
static inline const struct nb_description *nb_described(CUfunction handle)
{
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    return function != NULL ? atomic_load_explicit(&function->description, memory_order_acquire) : NULL;
}

/* The same, asking the driver at a kernel's first launch, so call it before the launch and inside a recorded
 * call. NULL if the record of it found no room. */
const struct nb_description *nb_describe(struct nb_thread *thread, CUfunction handle)
    __attribute__((visibility("hidden")));

#endif
