/* The form of the kernel that a launch ran, in the launch's record. */
#ifndef NEUTRINO_CUDA_PROBED_LAUNCH_H
#define NEUTRINO_CUDA_PROBED_LAUNCH_H

#include "cuda/probe/launch.h"
#include "cuda/trace/launch_record.h"

/* Did the engine's kernel run? If so, the launch's record names its form. */
static inline bool nb_launch_was_probed(struct nb_launch_under_way under_way,
                                        const struct nb_probed_launch *probed)
{
    const bool was = probed != NULL && probed->result == CUDA_SUCCESS;
    if (was && under_way.record != NULL)
        under_way.record->flags |= probed->flag;
    return was;
}

#endif
