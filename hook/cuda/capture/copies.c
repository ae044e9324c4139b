/* The copies of the API, each in capture_copy.h's shape. */
#include <cuda.h>

#include "cuda/capture/capture.h"
#include "cuda/capture/copy.h"
#include "real.h"
#include "special.h"

static uint64_t word(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

struct nb_copy nb_copy_of_bytes(uint64_t destination, uint64_t source, size_t bytes, CUstream stream,
                                bool host_waits)
{
    return (struct nb_copy){.destination = {.address = destination, .pitch = bytes, .slice = bytes},
                            .source = {.address = source, .pitch = bytes, .slice = bytes},
                            .width = bytes,
                            .height = 1,
                            .depth = 1,
                            .stream = stream,
                            .host_waits = host_waits};
}

/* An end that is described by where its block begins in memory of `pitch` bytes a row, `rows` rows a slice.
 */
static struct nb_copy_end end(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                              size_t rows, size_t x, size_t y, size_t z)
{
    const uint64_t base = type == CU_MEMORYTYPE_HOST ? word(host) : device;
    return (struct nb_copy_end){.address = base + x + pitch * (y + rows * z),
                                .pitch = pitch,
                                .slice = pitch * rows,
                                .is_array = type == CU_MEMORYTYPE_ARRAY};
}

struct nb_copy nb_copy_of_plane(const CUDA_MEMCPY2D *from, CUstream stream, bool host_waits)
{
    return (struct nb_copy){.destination =
                                end(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstPitch,
                                    from->Height, from->dstXInBytes, from->dstY, 0),
                            .source = end(from->srcMemoryType, from->srcHost, from->srcDevice, from->srcPitch,
                                          from->Height, from->srcXInBytes, from->srcY, 0),
                            .width = from->WidthInBytes,
                            .height = from->Height,
                            .depth = 1,
                            .stream = stream,
                            .host_waits = host_waits};
}

struct nb_copy nb_copy_of_volume(const CUDA_MEMCPY3D *from, CUstream stream, bool host_waits)
{
    return (struct nb_copy){.destination =
                                end(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstPitch,
                                    from->dstHeight, from->dstXInBytes, from->dstY, from->dstZ),
                            .source = end(from->srcMemoryType, from->srcHost, from->srcDevice, from->srcPitch,
                                          from->srcHeight, from->srcXInBytes, from->srcY, from->srcZ),
                            .width = from->WidthInBytes,
                            .height = from->Height,
                            .depth = from->Depth,
                            .stream = stream,
                            .host_waits = host_waits};
}

CUresult nb_through_copy(const struct nb_call *call, nb_cuMemcpy_t real, CUdeviceptr dst, CUdeviceptr src,
                         size_t ByteCount)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dst, src, ByteCount);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dst, src, ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_async(const struct nb_call *call, nb_cuMemcpyAsync_t real, CUdeviceptr dst,
                               CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dst, src, ByteCount, hStream);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dst, src, ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_to_device(const struct nb_call *call, nb_cuMemcpyHtoD_v2_t real,
                                   CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstDevice, srcHost, ByteCount);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dstDevice, word(srcHost), ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_to_device_async(const struct nb_call *call, nb_cuMemcpyHtoDAsync_v2_t real,
                                         CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                         CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstDevice, srcHost, ByteCount, hStream);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(dstDevice, word(srcHost), ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_to_host(const struct nb_call *call, nb_cuMemcpyDtoH_v2_t real, void *dstHost,
                                 CUdeviceptr srcDevice, size_t ByteCount)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(dstHost, srcDevice, ByteCount);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(word(dstHost), srcDevice, ByteCount, NULL, true));
    return result;
}

CUresult nb_through_copy_to_host_async(const struct nb_call *call, nb_cuMemcpyDtoHAsync_v2_t real,
                                       void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                       CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(dstHost, srcDevice, ByteCount, hStream);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_bytes(word(dstHost), srcDevice, ByteCount, hStream, false));
    return result;
}

CUresult nb_through_copy_2d(const struct nb_call *call, nb_cuMemcpy2D_v2_t real, const CUDA_MEMCPY2D *pCopy)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(pCopy);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_plane(pCopy, NULL, true));
    return result;
}

CUresult nb_through_copy_2d_async(const struct nb_call *call, nb_cuMemcpy2DAsync_v2_t real,
                                  const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(pCopy, hStream);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_plane(pCopy, hStream, false));
    return result;
}

CUresult nb_through_copy_3d(const struct nb_call *call, nb_cuMemcpy3D_v2_t real, const CUDA_MEMCPY3D *pCopy)
{
    const bool recorded = nb_capture_announce(call, NULL);
    const CUresult result = real(pCopy);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_volume(pCopy, NULL, true));
    return result;
}

CUresult nb_through_copy_3d_async(const struct nb_call *call, nb_cuMemcpy3DAsync_v2_t real,
                                  const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    const bool recorded = nb_capture_announce(call, hStream);
    const CUresult result = real(pCopy, hStream);
    if (nb_capture_is_taken(recorded, result))
        nb_capture_copy(call, nb_copy_of_volume(pCopy, hStream, false));
    return result;
}
