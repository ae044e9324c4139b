/* Hooks of the driver's copy functions. */
#include <cuda.h>

#include "cuda/capture/copy.h"
#include "cuda/capture/operation.h"
#include "real.h"
#include "special.h"

static uint64_t word(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

CUresult nb_through_copy(const struct nb_call *call, nb_cuMemcpy_t real, CUdeviceptr dst, CUdeviceptr src,
                         size_t ByteCount)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dst, src, ByteCount);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dst, src, ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_async(const struct nb_call *call, nb_cuMemcpyAsync_t real, CUdeviceptr dst,
                               CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dst, src, ByteCount, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dst, src, ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_to_device(const struct nb_call *call, nb_cuMemcpyHtoD_v2_t real,
                                   CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstDevice, srcHost, ByteCount);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dstDevice, word(srcHost), ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_to_device_async(const struct nb_call *call, nb_cuMemcpyHtoDAsync_v2_t real,
                                         CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                         CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstDevice, srcHost, ByteCount, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dstDevice, word(srcHost), ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_to_host(const struct nb_call *call, nb_cuMemcpyDtoH_v2_t real, void *dstHost,
                                 CUdeviceptr srcDevice, size_t ByteCount)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(dstHost, srcDevice, ByteCount);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(word(dstHost), srcDevice, ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_to_host_async(const struct nb_call *call, nb_cuMemcpyDtoHAsync_v2_t real,
                                       void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                       CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(dstHost, srcDevice, ByteCount, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(word(dstHost), srcDevice, ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_2d(const struct nb_call *call, nb_cuMemcpy2D_v2_t real, const CUDA_MEMCPY2D *pCopy)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(pCopy);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_plane(pCopy, NULL, true));
    return result;
}

CUresult nb_through_copy_2d_async(const struct nb_call *call, nb_cuMemcpy2DAsync_v2_t real,
                                  const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(pCopy, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_plane(pCopy, hStream, false));
    return result;
}

CUresult nb_through_copy_3d(const struct nb_call *call, nb_cuMemcpy3D_v2_t real, const CUDA_MEMCPY3D *pCopy)
{
    const bool recorded = nb_capture_begin_operation(call, NULL);
    const CUresult result = real(pCopy);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_volume(pCopy, NULL, true));
    return result;
}

CUresult nb_through_copy_3d_async(const struct nb_call *call, nb_cuMemcpy3DAsync_v2_t real,
                                  const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    const bool recorded = nb_capture_begin_operation(call, hStream);
    const CUresult result = real(pCopy, hStream);
    if (nb_capture_is_accepted(recorded, result))
        nb_capture_copy(call, nb_copy_of_volume(pCopy, hStream, false));
    return result;
}
