#include "hip/hooks/answer.h"

#include <stddef.h>
#include <stdint.h>

#include "core/process/call.h"
#include "real.h"
#include "surface.h"

/* HIP keeps the last error of each thread and has no function to set it. This provokes the error: an
 * allocation without a place for its address, or a too large allocation. Hooks return only
 * those two errors. */
static void make_last(hipError_t wanted)
{
    void *nowhere = NULL;
    NB_REAL(hipGetLastError)();
    if (wanted == hipErrorInvalidValue)
        (void)NB_REAL(hipMalloc)(NULL, 1);
    else if (wanted == hipErrorOutOfMemory && NB_REAL(hipMalloc)(&nowhere, SIZE_MAX / 2) == hipSuccess)
        (void)NB_REAL(hipFree)(nowhere);
}

hipError_t nb_hip_answer(CUresult result)
{
    const hipError_t wanted = (hipError_t)result;
    const hipError_t last = NB_REAL(hipPeekAtLastError)();
    if (last != wanted &&
        (wanted == hipSuccess || wanted == hipErrorInvalidValue || wanted == hipErrorOutOfMemory))
        make_last(wanted);
    return wanted;
}
