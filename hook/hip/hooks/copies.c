/* Hooks of HIP's copies. They ignore hipMemcpyKind: the addresses tell host from device. */
#include <cuda.h>
#include <hip/hip_runtime_api.h>

#include "cuda/capture/copy.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/refuse.h"
#include "hip/driver/hip.h"
#include "hip/driver/shapes.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"

/* Records a copy if the driver accepted the call. */
static hipError_t copied(const struct nb_call *call, bool announced, hipError_t result, struct nb_copy copy)
{
    if (nb_capture_is_accepted(announced, (CUresult)result))
        nb_capture_copy(call, copy);
    return result;
}

static struct nb_copy bytes(const void *destination, const void *source, size_t count, hipStream_t stream,
                            bool host_waits)
{
    return nb_copy_of_bytes(nb_address(destination), nb_address(source), count, (CUstream)stream, host_waits);
}

hipError_t nb_wrap_when_recording_hip_copy(const struct nb_call *call, nb_hipMemcpy_t real, void *dst,
                                           const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(dst, src, sizeBytes, kind);
    return copied(call, announced, result, bytes(dst, src, sizeBytes, NULL, true));
}

hipError_t nb_wrap_when_recording_hip_copy_async(const struct nb_call *call, nb_hipMemcpyAsync_t real,
                                                 void *dst, const void *src, size_t sizeBytes,
                                                 hipMemcpyKind kind, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, src, sizeBytes, kind, stream);
    return copied(call, announced, result, bytes(dst, src, sizeBytes, stream, false));
}

/* Runs in the stream's order and has finished when the call returns. */
hipError_t nb_wrap_when_recording_hip_copy_with_stream(const struct nb_call *call,
                                                       nb_hipMemcpyWithStream_t real, void *dst,
                                                       const void *src, size_t sizeBytes, hipMemcpyKind kind,
                                                       hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, src, sizeBytes, kind, stream);
    return copied(call, announced, result, bytes(dst, src, sizeBytes, stream, true));
}

hipError_t nb_wrap_when_recording_hip_copy_rows(const struct nb_call *call, nb_hipMemcpy2D_t real, void *dst,
                                                size_t dpitch, const void *src, size_t spitch, size_t width,
                                                size_t height, hipMemcpyKind kind)
{
    const CUDA_MEMCPY2D rows = nb_shape_of_rows(dst, dpitch, src, spitch, width, height);
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(dst, dpitch, src, spitch, width, height, kind);
    return copied(call, announced, result, nb_copy_of_plane(&rows, NULL, true));
}

hipError_t nb_wrap_when_recording_hip_copy_rows_async(const struct nb_call *call, nb_hipMemcpy2DAsync_t real,
                                                      void *dst, size_t dpitch, const void *src,
                                                      size_t spitch, size_t width, size_t height,
                                                      hipMemcpyKind kind, hipStream_t stream)
{
    const CUDA_MEMCPY2D rows = nb_shape_of_rows(dst, dpitch, src, spitch, width, height);
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(dst, dpitch, src, spitch, width, height, kind, stream);
    return copied(call, announced, result, nb_copy_of_plane(&rows, (CUstream)stream, false));
}

/* The description is valid only if the driver accepted it, so it is read afterwards. */
hipError_t nb_wrap_when_recording_hip_copy_plane(const struct nb_call *call, nb_hipMemcpyParam2D_t real,
                                                 const hip_Memcpy2D *pCopy)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(pCopy);
    if (result != hipSuccess)
        return result;
    const CUDA_MEMCPY2D plane = nb_shape_of_plane(pCopy);
    return copied(call, announced, result, nb_copy_of_plane(&plane, NULL, true));
}

hipError_t nb_wrap_when_recording_hip_copy_plane_async(const struct nb_call *call,
                                                       nb_hipMemcpyParam2DAsync_t real,
                                                       const hip_Memcpy2D *pCopy, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(pCopy, stream);
    if (result != hipSuccess)
        return result;
    const CUDA_MEMCPY2D plane = nb_shape_of_plane(pCopy);
    return copied(call, announced, result, nb_copy_of_plane(&plane, (CUstream)stream, false));
}

hipError_t nb_wrap_when_recording_hip_copy_volume(const struct nb_call *call, nb_hipMemcpy3D_t real,
                                                  const struct hipMemcpy3DParms *p)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(p);
    CUDA_MEMCPY3D volume;
    if (result != hipSuccess || !nb_hip_copy_to(p, &volume))
        return result;
    return copied(call, announced, result, nb_copy_of_volume(&volume, NULL, true));
}

hipError_t nb_wrap_when_recording_hip_copy_volume_async(const struct nb_call *call,
                                                        nb_hipMemcpy3DAsync_t real,
                                                        const struct hipMemcpy3DParms *p, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(p, stream);
    CUDA_MEMCPY3D volume;
    if (result != hipSuccess || !nb_hip_copy_to(p, &volume))
        return result;
    return copied(call, announced, result, nb_copy_of_volume(&volume, (CUstream)stream, false));
}

static hipError_t driver_volume_copied(const struct nb_call *call, bool announced, hipError_t result,
                                       const HIP_MEMCPY3D *from, CUstream stream, bool host_waits)
{
    CUDA_MEMCPY3D volume;
    if (result != hipSuccess)
        return result;
    if (nb_shape_of_driver_volume(from, &volume))
        return copied(call, announced, result, nb_copy_of_volume(&volume, stream, host_waits));
    if (nb_capture_is_accepted(announced, CUDA_SUCCESS))
        nb_capture_refuse(call,
                          "copies by a structure whose layout differs between this driver and its headers");
    return result;
}

hipError_t nb_wrap_when_recording_hip_copy_driver_volume(const struct nb_call *call, nb_hipDrvMemcpy3D_t real,
                                                         const HIP_MEMCPY3D *pCopy)
{
    const bool announced = nb_capture_begin_operation(call, NULL);
    const hipError_t result = real(pCopy);
    return driver_volume_copied(call, announced, result, pCopy, NULL, true);
}

hipError_t nb_wrap_when_recording_hip_copy_driver_volume_async(const struct nb_call *call,
                                                               nb_hipDrvMemcpy3DAsync_t real,
                                                               const HIP_MEMCPY3D *pCopy, hipStream_t stream)
{
    const bool announced = nb_capture_begin_operation(call, (CUstream)stream);
    const hipError_t result = real(pCopy, stream);
    return driver_volume_copied(call, announced, result, pCopy, (CUstream)stream, false);
}
