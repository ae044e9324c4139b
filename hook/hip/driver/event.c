/* Events. */
#include "hip/driver/hip.h"

/* Since 6.4; without flags it is the plain call. */
CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    hipError_t (*const record)(hipEvent_t, hipStream_t, unsigned int) =
        HIP_LATER(hipEventRecordWithFlags, (hipEvent_t, hipStream_t, unsigned int));
    if (flags == 0)
        return cuEventRecord(hEvent, hStream);
    return record != NULL ? nb_hip_result(record((hipEvent_t)hEvent, nb_hip_stream(hStream), flags))
                          : CUDA_ERROR_NOT_SUPPORTED;
}
