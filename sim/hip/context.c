/* Contexts. As in AMD's runtime, a device has one, and hipCtxCreate returns it, too. The handle is the
 * primary context's. */
#include "hip/hip.h"

hipError_t hipInit(unsigned int flags)
{
    return hip_result(cuInit(flags));
}

static hipError_t primary(CUcontext *context, int device)
{
    return hip_result(cuDevicePrimaryCtxRetain(context, device));
}

hipError_t hipCtxCreate(hipCtx_t *ctx, unsigned int flags, hipDevice_t device)
{
    CUcontext context;
    (void)flags;
    HIP_READY();
    if (ctx == NULL)
        return hipErrorInvalidValue;
    hipError_t error = primary(&context, device);
    if (error == hipSuccess)
        error = hip_result(cuCtxPushCurrent(context));
    if (error == hipSuccess)
        *ctx = (hipCtx_t)context;
    return error;
}

/* Undoes hipCtxCreate. The runtime has its own reference, so the context stays. */
hipError_t hipCtxDestroy(hipCtx_t ctx)
{
    CUcontext current = NULL;
    CUdevice device;
    HIP_READY();
    if (ctx == NULL)
        return hipErrorInvalidValue;
    hipError_t error = hip_result(cuCtxGetCurrent(&current));
    if (error == hipSuccess && current != (CUcontext)ctx)
        return hipErrorInvalidContext;
    if (error == hipSuccess)
        error = hip_result(cuCtxGetDevice(&device));
    if (error == hipSuccess)
        error = hip_result(cuCtxPopCurrent(&current));
    return error == hipSuccess ? hip_result(cuDevicePrimaryCtxRelease(device)) : error;
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev)
{
    CUcontext context;
    HIP_READY();
    if (pctx == NULL)
        return hipErrorInvalidValue;
    const hipError_t error = primary(&context, dev);
    if (error == hipSuccess)
        *pctx = (hipCtx_t)context;
    return error;
}

hipError_t hipCtxGetApiVersion(hipCtx_t ctx, int *apiVersion)
{
    (void)ctx;
    if (apiVersion == NULL)
        return hipErrorInvalidValue;
    *apiVersion = 4; /* of HIP's context interface, whatever the release */
    return hipSuccess;
}
