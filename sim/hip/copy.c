/* Copies whose parameters differ from the CUDA runtime's. */
#include "hip/hip.h"

#include <stdint.h>

hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                               hipStream_t stream)
{
    const hipError_t error = hipMemcpyAsync(dst, src, sizeBytes, kind, stream);
    return error == hipSuccess ? hip_result(cuStreamSynchronize((CUstream)stream)) : error;
}

/* The machine has one device. */
hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId, size_t sizeBytes)
{
    return dstDeviceId != 0 || srcDeviceId != 0 ? hipErrorInvalidDevice
                                                : hipMemcpy(dst, src, sizeBytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice, size_t sizeBytes,
                              hipStream_t stream)
{
    return dstDeviceId != 0 || srcDevice != 0
               ? hipErrorInvalidDevice
               : hipMemcpyAsync(dst, src, sizeBytes, hipMemcpyDeviceToDevice, stream);
}
