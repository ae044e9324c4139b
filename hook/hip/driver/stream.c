/* Streams. */
#include "hip/driver/hip.h"

/* HIP has stream numbers since 7.1. Before, the shim counts streams itself. */
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
