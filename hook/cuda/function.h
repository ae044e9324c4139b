/* From the handle that a launch names to what is known of its kernel. */
#ifndef NEUTRINO_CUDA_FUNCTION_H
#define NEUTRINO_CUDA_FUNCTION_H

#include <cuda.h>

#include "funcmap.h"
#include "handle.h"
#include "thread.h"

/* The slow half of nb_describe: asks the driver. */
const struct nb_description *nb_describe_first(struct nb_thread *thread, CUfunction handle)
    __attribute__((visibility("hidden")));

/* The kernel's number and parameter layout. Asks the driver at a kernel's first launch, so call it before the
 * launch and inside a recorded call. NULL if the record of it found no room. */
static inline const struct nb_description *nb_describe(struct nb_thread *thread, CUfunction handle)
{
    const struct nb_function *function = nb_funcmap_get(nb_handle(handle));
    const struct nb_description *description =
        function != NULL ? atomic_load_explicit(&function->description, memory_order_acquire) : NULL;
    return __builtin_expect(description != NULL, 1) ? description : nb_describe_first(thread, handle);
}

#endif
