/* Peer access and handles for other processes. The machine has one device, and the CPU driver has no such
 * handles. */
#include "hip/hip.h"

#include <string.h>

_Static_assert(sizeof(hipIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                   sizeof(hipIpcEventHandle_t) == sizeof(CUipcEventHandle),
               "handed on as they are");

hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    HIP_READY();
    return hip_result(
        cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)(attr + 1), srcDevice, dstDevice));
}

hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t *linktype, uint32_t *hopcount)
{
    (void)device1, (void)device2, (void)linktype, (void)hopcount;
    return hipErrorInvalidValue; /* of two devices */
}

hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags)
{
    (void)peerDeviceId, (void)flags;
    return hipErrorInvalidDevice;
}

hipError_t hipDeviceDisablePeerAccess(int peerDeviceId)
{
    return peerDeviceId == 0 ? hipErrorPeerAccessNotEnabled : hipErrorInvalidDevice;
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags)
{
    HIP_READY();
    return hip_result(cuCtxEnablePeerAccess((CUcontext)peerCtx, flags));
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx)
{
    HIP_READY();
    return hip_result(cuCtxDisablePeerAccess((CUcontext)peerCtx));
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *devPtr)
{
    HIP_READY();
    return hip_result(cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle, hip_address(devPtr)));
}

hipError_t hipIpcOpenMemHandle(void **devPtr, hipIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle given;
    CUdeviceptr at = 0;
    HIP_READY();
    if (devPtr == NULL)
        return hipErrorInvalidValue;
    memcpy(&given, &handle, sizeof given);
    const CUresult result = cuIpcOpenMemHandle(&at, given, flags);
    if (result == CUDA_SUCCESS)
        *devPtr = (void *)(uintptr_t)at;
    return hip_result(result);
}

hipError_t hipIpcCloseMemHandle(void *devPtr)
{
    HIP_READY();
    return hip_result(cuIpcCloseMemHandle(hip_address(devPtr)));
}

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event)
{
    HIP_READY();
    return hip_result(cuIpcGetEventHandle((CUipcEventHandle *)(void *)handle, (CUevent)event));
}

hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle)
{
    CUipcEventHandle given;
    HIP_READY();
    memcpy(&given, &handle, sizeof given);
    return hip_result(cuIpcOpenEventHandle((CUevent *)event, given));
}
