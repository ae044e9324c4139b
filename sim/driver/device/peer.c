/* Peer access. There is one device, and a device is not its own peer. */
#include "driver/context/context.h"
#include "driver/core/state.h"

/* Two contexts of one device behave as one context with itself. */
static CUresult enter(CUcontext peer, struct sim_context **context)
{
    const CUresult result = sim_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    return sim_object_find(peer, SIM_CONTEXT) == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct sim_context *context;
    const CUresult result = enter(peerContext, &context);
    if (result != CUDA_SUCCESS)
        return result;
    return Flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct sim_context *context;
    const CUresult result = enter(peerContext, &context);
    return result == CUDA_SUCCESS ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : result;
}

/* Attributes of a device paired with itself do not exist. */
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice)
{
    const CUresult result = sim_check_initialized();
    (void)attrib;
    (void)srcDevice;
    (void)dstDevice;
    if (result != CUDA_SUCCESS)
        return result;
    return value == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
}

#if CUDA_VERSION >= 13000
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const CUatomicOperation *operations,
                                          unsigned int count, CUdevice srcDevice, CUdevice dstDevice)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (capabilities == NULL || operations == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    (void)srcDevice;
    (void)dstDevice;
    return CUDA_ERROR_INVALID_DEVICE;
}
#endif
