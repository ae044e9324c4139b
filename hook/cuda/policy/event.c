/* Notes which events keep time, for rules about timing events. */
#include <cuda.h>

#include "core/policy/events.h"
#include "core/process/call.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "special.h"

void nb_post_event_create(const struct nb_call *call, CUresult result, CUevent *phEvent, unsigned int Flags)
{
    (void)call;
    if (result == CUDA_SUCCESS && phEvent != NULL)
        nb_policy_event_created(nb_handle(*phEvent), (Flags & CU_EVENT_DISABLE_TIMING) == 0);
}
