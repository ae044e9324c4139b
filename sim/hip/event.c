/* Events. */
#include "hip/hip.h"

/* Of 5.3 and later. */
#ifndef hipEventDisableSystemFence
#define hipEventDisableSystemFence 0x20000000
#endif

_Static_assert(hipEventBlockingSync == CU_EVENT_BLOCKING_SYNC &&
                   hipEventDisableTiming == CU_EVENT_DISABLE_TIMING &&
                   hipEventInterprocess == CU_EVENT_INTERPROCESS,
               "numbers are handed on as they are");

/* Which caches a recorded event makes write back, of which the CPU driver has none. One of the two at most.
 */
#define RELEASE (hipEventReleaseToDevice | hipEventReleaseToSystem)
#define FENCES  (RELEASE | hipEventDisableSystemFence)

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    if ((flags & RELEASE) == RELEASE)
        return hipErrorInvalidValue;
    return hip_result(cudaEventCreateWithFlags((CUevent *)event, flags & ~FENCES));
}
