#include "hip/driver/shapes.h"

#include <stdint.h>
#include <string.h>

#include "hip/driver/hip.h"

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* hipMemoryType has new numbers since 6.0, those of the CUDA runtime: unregistered host memory 0, host 1,
 * device 2, array 10. */
static bool is_array(hipMemoryType type)
{
    return (int)type == (nb_hip_version() >= 600 ? 10 : 2);
}

static bool is_host(hipMemoryType type)
{
    return (int)type == 0 || ((int)type == 1 && nb_hip_version() >= 600);
}

static CUmemorytype type_of(hipMemoryType type)
{
    return is_array(type) ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
}

/* Selects the pointer that the memory type makes valid. */
static CUdeviceptr end_of(hipMemoryType type, const void *host, hipDeviceptr_t device)
{
    return address(is_host(type) ? host : device);
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
    return (CUDA_MEMCPY2D){.dstMemoryType = type_of(from->dstMemoryType),
                           .dstDevice = end_of(from->dstMemoryType, from->dstHost, from->dstDevice),
                           .dstPitch = from->dstPitch,
                           .dstXInBytes = from->dstXInBytes,
                           .dstY = from->dstY,
                           .srcMemoryType = type_of(from->srcMemoryType),
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

bool nb_shape_of_driver_volume(const HIP_MEMCPY3D *from, CUDA_MEMCPY3D *into)
{
    if ((nb_hip_version() >= 600) != (HIP_VERSION_MAJOR >= 6))
        return false;
    *into = (CUDA_MEMCPY3D){.dstMemoryType = type_of(from->dstMemoryType),
                            .dstDevice = end_of(from->dstMemoryType, from->dstHost, from->dstDevice),
                            .dstPitch = from->dstPitch,
                            .dstHeight = from->dstHeight,
                            .dstXInBytes = from->dstXInBytes,
                            .dstY = from->dstY,
                            .dstZ = from->dstZ,
                            .srcMemoryType = type_of(from->srcMemoryType),
                            .srcDevice = end_of(from->srcMemoryType, from->srcHost, from->srcDevice),
                            .srcPitch = from->srcPitch,
                            .srcHeight = from->srcHeight,
                            .srcXInBytes = from->srcXInBytes,
                            .srcY = from->srcY,
                            .srcZ = from->srcZ,
                            .WidthInBytes = from->WidthInBytes,
                            .Height = from->Height,
                            .Depth = from->Depth};
    return true;
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
