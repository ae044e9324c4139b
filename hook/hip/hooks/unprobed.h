/* Launches that are not probed: a probed kernel takes the place of one that hipModuleLaunchKernel,
 * hipLaunchKernel or a call with the parameters of the first launches. */
#ifndef NEUTRINO_HIP_UNPROBED_H
#define NEUTRINO_HIP_UNPROBED_H

#include "core/probe/mailbox.h"
#include "core/process/call.h"
#include "cuda/kernel/function.h"
#include "cuda/probe/kernel.h"
#include "cuda/trace/launch_form.h"

/* Call before nb_launch_begin, because it writes records. */
static inline void nb_hip_skip_probe(const struct nb_call *call, const struct nb_launch_form *launch)
{
    const struct nb_description *description =
        nb_probing() && call->thread != NULL ? nb_describe(call->thread, launch->function) : NULL;
    if (description != NULL)
        nb_probe_skip_kernel(call, description->number,
                             "HIP launches it by hipExt, hipLaunchByPtr, or its host stub with attributes");
}

#endif
