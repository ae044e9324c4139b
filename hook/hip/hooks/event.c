/* Hooks of hipEventCreate, whose CUDA function takes flags. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static CUresult create(CUevent *event, unsigned int flags)
{
    (void)flags; /* hipEventCreate has no flags */
    return (CUresult)NB_REAL(hipEventCreate)((hipEvent_t *)event);
}

hipError_t nb_wrap_when_recording_hip_event_create(const struct nb_call *call, nb_hipEventCreate_t real,
                                                   hipEvent_t *event)
{
    (void)real;
    return (hipError_t)nb_wrap_when_recording_event_create(call, create, (CUevent *)event, 0);
}

void nb_post_hip_event_create(const struct nb_call *call, hipError_t result, hipEvent_t *event)
{
    nb_post_event_create(call, (CUresult)result, (CUevent *)event, 0);
}
