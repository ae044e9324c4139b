/* Events, as cuEventRecord and the like. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "core/process/call.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static CUresult create(CUevent *event, unsigned int flags)
{
    (void)flags; /* there are none in this form */
    return (CUresult)NB_REAL(hipEventCreate)((hipEvent_t *)event);
}

hipError_t nb_through_hip_event_create(const struct nb_call *call, nb_hipEventCreate_t real,
                                       hipEvent_t *event)
{
    (void)real;
    return (hipError_t)nb_through_event_create(call, create, (CUevent *)event, 0);
}

hipError_t nb_through_hip_event_create_flags(const struct nb_call *call, nb_hipEventCreateWithFlags_t real,
                                             hipEvent_t *event, unsigned int flags)
{
    _Static_assert(hipEventDisableTiming == CU_EVENT_DISABLE_TIMING, "the flag is CUDA's");
    return (hipError_t)nb_through_event_create(call, NB_SAME(cuEventCreate, real), (CUevent *)event, flags);
}

hipError_t nb_through_hip_event_record(const struct nb_call *call, nb_hipEventRecord_t real, hipEvent_t event,
                                       hipStream_t stream)
{
    return (hipError_t)nb_through_event_record(call, NB_SAME(cuEventRecord, real), (CUevent)event,
                                               (CUstream)stream);
}

hipError_t nb_through_hip_event_wait(const struct nb_call *call, nb_hipEventQuery_t real, hipEvent_t event)
{
    return (hipError_t)nb_through_event_wait(call, NB_SAME(cuEventQuery, real), (CUevent)event);
}

hipError_t nb_through_hip_event_destroy(const struct nb_call *call, nb_hipEventDestroy_t real,
                                        hipEvent_t event)
{
    return (hipError_t)nb_through_event_destroy(call, NB_SAME(cuEventDestroy, real), (CUevent)event);
}
