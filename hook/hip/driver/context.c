/* Contexts. HIP has one context per device that matters: here a context is the device's ordinal plus one. */
#include "hip/driver/hip.h"

static int device_of(CUcontext context)
{
    return (int)(uintptr_t)context - 1;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    int device = 0;
    const CUresult result = nb_hip_result(HIP(hipGetDevice)(&device));
    if (result == CUDA_SUCCESS)
        *pctx = nb_hip_context(device);
    return result;
}

/* A HIP thread always has a device. Callers pass NULL only to release the context, so that does nothing. */
CUresult cuCtxSetCurrent(CUcontext ctx)
{
    return ctx != NULL ? nb_hip_result(HIP(hipSetDevice)(device_of(ctx))) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    hipCtx_t context;
    const CUresult result = nb_hip_result(HIP(hipDevicePrimaryCtxRetain)(&context, dev));
    if (result == CUDA_SUCCESS)
        *pctx = nb_hip_context(dev);
    return result;
}

/* HIP has three limits, with CUDA's numbers: stack (since 5.3), printf buffer and heap. */
static bool has_limit(CUlimit limit)
{
    return limit == CU_LIMIT_PRINTF_FIFO_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE ||
           (limit == CU_LIMIT_STACK_SIZE && nb_hip_version() >= 503);
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    return has_limit(limit) ? nb_hip_result(HIP(hipDeviceGetLimit)(pvalue, (enum hipLimit_t)limit))
                            : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    hipError_t (*const set)(enum hipLimit_t, size_t) =
        HIP_LATER(hipDeviceSetLimit, (enum hipLimit_t, size_t)); /* since 5.3 */
    return set != NULL && has_limit(limit) ? nb_hip_result(set((enum hipLimit_t)limit, value))
                                           : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

/* No HIP release has persisting L2 lines, so this has nothing to reset. */
CUresult cuCtxResetPersistingL2Cache(void)
{
    return CUDA_SUCCESS;
}
