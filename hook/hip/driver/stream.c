/* Streams and what is captured of them. Flags, modes and states have the same numbers. */
#include "hip/driver/hip.h"

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return nb_hip_result(HIP(hipStreamCreateWithFlags)((hipStream_t *)phStream, Flags));
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    return nb_hip_result(HIP(hipStreamCreateWithPriority)((hipStream_t *)phStream, flags, priority));
}

CUresult cuStreamDestroy_v2(CUstream hStream)
{
    return nb_hip_result(HIP(hipStreamDestroy)(nb_hip_stream(hStream)));
}

CUresult cuStreamSynchronize(CUstream hStream)
{
    return nb_hip_result(HIP(hipStreamSynchronize)(nb_hip_stream(hStream)));
}

CUresult cuStreamQuery(CUstream hStream)
{
    return nb_hip_result(HIP(hipStreamQuery)(nb_hip_stream(hStream)));
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return nb_hip_result(HIP(hipStreamWaitEvent)(nb_hip_stream(hStream), (hipEvent_t)hEvent, Flags));
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    return nb_hip_result(HIP(hipStreamGetFlags)(nb_hip_stream(hStream), flags));
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority)
{
    return nb_hip_result(HIP(hipStreamGetPriority)(nb_hip_stream(hStream), priority));
}

/* Since 7.1. Before, by our own count. */
CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    hipError_t (*const get)(hipStream_t, unsigned long long *) =
        HIP_LATER(hipStreamGetId, (hipStream_t, unsigned long long *));
    if (get != NULL)
        return nb_hip_result(get(nb_hip_stream(hStream), streamId));
    *streamId = nb_hip_stream_number(nb_hip_stream(hStream));
    return *streamId != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    const int device = HIP(hipGetStreamDeviceId)(nb_hip_stream(hStream));
    if (device < 0)
        return CUDA_ERROR_INVALID_HANDLE;
    *pctx = nb_hip_context(device);
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return nb_hip_result(HIP(hipStreamBeginCapture)(nb_hip_stream(hStream), (hipStreamCaptureMode)mode));
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    return nb_hip_result(HIP(hipStreamEndCapture)(nb_hip_stream(hStream), (hipGraph_t *)phGraph));
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    const CUresult result = nb_hip_result(HIP(hipStreamIsCapturing)(nb_hip_stream(hStream), &status));
    if (result == CUDA_SUCCESS)
        *captureStatus = (CUstreamCaptureStatus)status;
    return result;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    hipStreamCaptureMode exchanged = (hipStreamCaptureMode)*mode;
    const CUresult result = nb_hip_result(HIP(hipThreadExchangeStreamCaptureMode)(&exchanged));
    if (result == CUDA_SUCCESS)
        *mode = (CUstreamCaptureMode)exchanged;
    return result;
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    return nb_hip_result(HIP(hipStreamAddCallback)(
        nb_hip_stream(hStream), (hipStreamCallback_t)(void (*)(void))callback, userData, flags));
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return nb_hip_result(
        HIP(hipStreamWriteValue32)(nb_hip_stream(stream), nb_hip_address(addr), value, flags));
}
