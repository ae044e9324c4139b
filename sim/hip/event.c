/* Events. */
#include "hip/hip.h"

/* Flags of 5.3 and later. */
#ifndef hipEventDisableSystemFence
#define hipEventDisableSystemFence 0x20000000
#endif

_Static_assert(hipEventBlockingSync == CU_EVENT_BLOCKING_SYNC &&
                   hipEventDisableTiming == CU_EVENT_DISABLE_TIMING &&
                   hipEventInterprocess == CU_EVENT_INTERPROCESS,
               "numbers are handed on as they are");

/* Caches that a recorded event writes back. The CPU driver has none. HIP accepts at most one of both flags.
 */
#define RELEASE (hipEventReleaseToDevice | hipEventReleaseToSystem)
#define FENCES  (RELEASE | hipEventDisableSystemFence)

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags)
{
    if ((flags & RELEASE) == RELEASE)
        return hipErrorInvalidValue;
    return hip_result(cudaEventCreateWithFlags((CUevent *)event, flags & ~FENCES));
}
