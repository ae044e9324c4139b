#include "shapes.h"

#include <stdbool.h>
#include <stdint.h>

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static CUmemorytype type_of(bool is_array)
{
    return is_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
}

/* Which of the two pointers of a driver's description counts. */
static CUdeviceptr end_of(hipMemoryType type, const void *host, hipDeviceptr_t device)
{
    return address(type == hipMemoryTypeHost ? host : device);
}

CUDA_MEMCPY2D nb_shape_of_rows(void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height)
{
    return (CUDA_MEMCPY2D){.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = address(destination),
                           .dstPitch = destination_pitch,
                           .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = address(source),
                           .srcPitch = source_pitch,
                           .WidthInBytes = width,
                           .Height = height};
}

CUDA_MEMCPY2D nb_shape_of_plane(const hip_Memcpy2D *from)
{
    return (CUDA_MEMCPY2D){.dstMemoryType = type_of(from->dstMemoryType == hipMemoryTypeArray),
                           .dstDevice = end_of(from->dstMemoryType, from->dstHost, from->dstDevice),
                           .dstPitch = from->dstPitch,
                           .dstXInBytes = from->dstXInBytes,
                           .dstY = from->dstY,
                           .srcMemoryType = type_of(from->srcMemoryType == hipMemoryTypeArray),
                           .srcDevice = end_of(from->srcMemoryType, from->srcHost, from->srcDevice),
                           .srcPitch = from->srcPitch,
                           .srcXInBytes = from->srcXInBytes,
                           .srcY = from->srcY,
                           .WidthInBytes = from->WidthInBytes,
                           .Height = from->Height};
}

CUDA_MEMCPY3D nb_shape_of_bytes(void *destination, const void *source, size_t bytes)
{
    return (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = address(destination),
                           .dstPitch = bytes,
                           .dstHeight = 1,
                           .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = address(source),
                           .srcPitch = bytes,
                           .srcHeight = 1,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

CUDA_MEMCPY3D nb_shape_of_volume(const hipMemcpy3DParms *from)
{
    return (CUDA_MEMCPY3D){.dstMemoryType = type_of(from->dstArray != NULL),
                           .dstDevice = address(from->dstPtr.ptr),
                           .dstPitch = from->dstPtr.pitch,
                           .dstHeight = from->dstPtr.ysize,
                           .dstXInBytes = from->dstPos.x,
                           .dstY = from->dstPos.y,
                           .dstZ = from->dstPos.z,
                           .srcMemoryType = type_of(from->srcArray != NULL),
                           .srcDevice = address(from->srcPtr.ptr),
                           .srcPitch = from->srcPtr.pitch,
                           .srcHeight = from->srcPtr.ysize,
                           .srcXInBytes = from->srcPos.x,
                           .srcY = from->srcPos.y,
                           .srcZ = from->srcPos.z,
                           .WidthInBytes = from->extent.width,
                           .Height = from->extent.height,
                           .Depth = from->extent.depth};
}

CUDA_MEMCPY3D nb_shape_of_driver_volume(const HIP_MEMCPY3D *from)
{
    return (CUDA_MEMCPY3D){.dstMemoryType = type_of(from->dstMemoryType == hipMemoryTypeArray),
                           .dstDevice = end_of(from->dstMemoryType, from->dstHost, from->dstDevice),
                           .dstPitch = from->dstPitch,
                           .dstHeight = from->dstHeight,
                           .dstXInBytes = from->dstXInBytes,
                           .dstY = from->dstY,
                           .dstZ = from->dstZ,
                           .srcMemoryType = type_of(from->srcMemoryType == hipMemoryTypeArray),
                           .srcDevice = end_of(from->srcMemoryType, from->srcHost, from->srcDevice),
                           .srcPitch = from->srcPitch,
                           .srcHeight = from->srcHeight,
                           .srcXInBytes = from->srcXInBytes,
                           .srcY = from->srcY,
                           .srcZ = from->srcZ,
                           .WidthInBytes = from->WidthInBytes,
                           .Height = from->Height,
                           .Depth = from->Depth};
}

CUDA_MEMSET_NODE_PARAMS nb_shape_of_set(const hipMemsetParams *from)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = address(from->dst),
                                     .pitch = from->pitch,
                                     .value = from->value,
                                     .elementSize = from->elementSize,
                                     .width = from->width,
                                     .height = from->height};
}

CUDA_KERNEL_NODE_PARAMS nb_shape_of_kernel(const hipKernelNodeParams *from)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)from->func,
                                     .gridDimX = from->gridDim.x,
                                     .gridDimY = from->gridDim.y,
                                     .gridDimZ = from->gridDim.z,
                                     .blockDimX = from->blockDim.x,
                                     .blockDimY = from->blockDim.y,
                                     .blockDimZ = from->blockDim.z,
                                     .sharedMemBytes = from->sharedMemBytes,
                                     .kernelParams = from->kernelParams,
                                     .extra = from->extra};
}

static void *pointer(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return (void *)(type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device);
}

static hipMemcpyKind kind_of(const CUDA_MEMCPY3D *from)
{
    const bool from_host = from->srcMemoryType == CU_MEMORYTYPE_HOST;
    const bool to_host = from->dstMemoryType == CU_MEMORYTYPE_HOST;
    if (from->srcMemoryType == CU_MEMORYTYPE_UNIFIED || from->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
        return hipMemcpyDefault;
    if (from_host)
        return to_host ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
    return to_host ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

bool nb_hip_volume(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *to)
{
    *to = (hipMemcpy3DParms){.srcPos = {from->srcXInBytes, from->srcY, from->srcZ},
                             .srcPtr = {.ptr = pointer(from->srcMemoryType, from->srcHost, from->srcDevice),
                                        .pitch = from->srcPitch,
                                        .xsize = from->WidthInBytes,
                                        .ysize = from->srcHeight},
                             .dstPos = {from->dstXInBytes, from->dstY, from->dstZ},
                             .dstPtr = {.ptr = pointer(from->dstMemoryType, from->dstHost, from->dstDevice),
                                        .pitch = from->dstPitch,
                                        .xsize = from->WidthInBytes,
                                        .ysize = from->dstHeight},
                             .extent = {from->WidthInBytes, from->Height, from->Depth},
                             .kind = kind_of(from)};
    return from->srcMemoryType != CU_MEMORYTYPE_ARRAY && from->dstMemoryType != CU_MEMORYTYPE_ARRAY;
}

hipMemsetParams nb_hip_set(const CUDA_MEMSET_NODE_PARAMS *from)
{
    return (hipMemsetParams){.dst = (void *)(uintptr_t)from->dst,
                             .elementSize = from->elementSize,
                             .height = from->height,
                             .pitch = from->pitch,
                             .value = from->value,
                             .width = from->width};
}
