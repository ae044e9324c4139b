/* Events. */
#include "hip/driver/hip.h"

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    return nb_hip_result(HIP(hipEventCreateWithFlags)((hipEvent_t *)phEvent, Flags));
}

CUresult cuEventDestroy_v2(CUevent hEvent)
{
    return nb_hip_result(HIP(hipEventDestroy)((hipEvent_t)hEvent));
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return nb_hip_result(HIP(hipEventRecord)((hipEvent_t)hEvent, nb_hip_stream(hStream)));
}

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

CUresult cuEventSynchronize(CUevent hEvent)
{
    return nb_hip_result(HIP(hipEventSynchronize)((hipEvent_t)hEvent));
}

CUresult cuEventQuery(CUevent hEvent)
{
    return nb_hip_result(HIP(hipEventQuery)((hipEvent_t)hEvent));
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return nb_hip_result(HIP(hipEventElapsedTime)(pMilliseconds, (hipEvent_t)hStart, (hipEvent_t)hEnd));
}

#if CUDA_VERSION >= 12080
/* The newer ABI differs in what the driver may answer for events of other contexts. */
CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}
#endif
