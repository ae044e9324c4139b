/* Events. */
#include "hip/driver/hip.h"

/* HIP has this function since 6.4. Without flags, hipEventRecord does the same. */
CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    hipError_t (*const record)(hipEvent_t, hipStream_t, unsigned int) =
        HIP_LATER(hipEventRecordWithFlags, (hipEvent_t, hipStream_t, unsigned int));
    if (flags == 0)
        return cuEventRecord(hEvent, hStream);
    return record != NULL ? nb_hip_result(record((hipEvent_t)hEvent, nb_hip_stream(hStream), flags))
                          : CUDA_ERROR_NOT_SUPPORTED;
}
