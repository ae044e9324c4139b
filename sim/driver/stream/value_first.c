/* The first version of these calls needs a driver with NVreg_EnableStreamMemOPs. Without,
 * CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 is 0 and each call fails, whatever its arguments. */
#include "driver/context/context.h"
#include "driver/stream/stream.h"

#define BATCH_MAX 255u

static CUresult first_version(CUstream hStream, unsigned count, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    return count > BATCH_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

#define FIRST_VERSION(name, type)                                                                            \
    CUresult name(CUstream stream, CUdeviceptr address, type value, unsigned flags)                          \
    {                                                                                                        \
        (void)address, (void)value, (void)flags;                                                             \
        return first_version(stream, 1, false);                                                              \
    }                                                                                                        \
    CUresult name##_ptsz(CUstream stream, CUdeviceptr address, type value, unsigned flags)                   \
    {                                                                                                        \
        (void)address, (void)value, (void)flags;                                                             \
        return first_version(stream, 1, true);                                                               \
    }

FIRST_VERSION(cuStreamWaitValue32, cuuint32_t)
FIRST_VERSION(cuStreamWaitValue64, cuuint64_t)
FIRST_VERSION(cuStreamWriteValue32, cuuint32_t)
FIRST_VERSION(cuStreamWriteValue64, cuuint64_t)

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                            unsigned int flags)
{
    (void)paramArray, (void)flags;
    return first_version(stream, count, false);
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                 unsigned int flags)
{
    (void)paramArray, (void)flags;
    return first_version(stream, count, true);
}
