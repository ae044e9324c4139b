#include "hip/hooks/answer.h"

#include <stddef.h>
#include <stdint.h>

#include "core/process/call.h"
#include "real.h"
#include "surface.h"

/* HIP keeps the last error of each thread and has no function to set it. This provokes the error: an
 * allocation without a place for its address, or a too large allocation. Hooks return only
 * those two errors. */
static void make_last(hipError_t error)
{
    void *nowhere = NULL;
    NB_REAL(hipGetLastError)();
    if (error == hipErrorInvalidValue)
        (void)NB_REAL(hipMalloc)(NULL, 1);
    else if (error == hipErrorOutOfMemory && NB_REAL(hipMalloc)(&nowhere, SIZE_MAX / 2) == hipSuccess)
        (void)NB_REAL(hipFree)(nowhere);
}

hipError_t nb_hip_answer(CUresult result)
{
    const hipError_t error = (hipError_t)result;
    const hipError_t last = NB_REAL(hipPeekAtLastError)();
    if (last != error &&
        (error == hipSuccess || error == hipErrorInvalidValue || error == hipErrorOutOfMemory))
        make_last(error);
    return error;
}
