#include "hip/volume.h"

/* HIP's memory types begin at 0. CUDA's driver refuses unknown ones. */
static CUmemorytype memory_type(hipMemoryType type)
{
    static const CUmemorytype types[] = {
        [hipMemoryTypeHost] = CU_MEMORYTYPE_HOST,
        [hipMemoryTypeDevice] = CU_MEMORYTYPE_DEVICE,
        [hipMemoryTypeArray] = CU_MEMORYTYPE_ARRAY,
        [hipMemoryTypeUnified] = CU_MEMORYTYPE_UNIFIED,
    };
    return (size_t)type < sizeof types / sizeof *types ? types[type] : (CUmemorytype)0;
}

hipError_t hip_rows(const hip_Memcpy2D *copy, CUDA_MEMCPY2D *rows)
{
    if (copy == NULL)
        return hipErrorInvalidValue;
    if (copy->srcMemoryType == hipMemoryTypeArray || copy->dstMemoryType == hipMemoryTypeArray)
        return hip_not_supported("a copy of an array");
    *rows = (CUDA_MEMCPY2D){
        .srcXInBytes = copy->srcXInBytes,
        .srcY = copy->srcY,
        .srcMemoryType = memory_type(copy->srcMemoryType),
        .srcHost = copy->srcHost,
        .srcDevice = hip_address(copy->srcDevice),
        .srcPitch = copy->srcPitch,
        .dstXInBytes = copy->dstXInBytes,
        .dstY = copy->dstY,
        .dstMemoryType = memory_type(copy->dstMemoryType),
        .dstHost = copy->dstHost,
        .dstDevice = hip_address(copy->dstDevice),
        .dstPitch = copy->dstPitch,
        .WidthInBytes = copy->WidthInBytes,
        .Height = copy->Height,
    };
    return hipSuccess;
}

hipError_t hip_volume(const HIP_MEMCPY3D *copy, CUDA_MEMCPY3D *volume)
{
    if (copy == NULL)
        return hipErrorInvalidValue;
    if (copy->srcMemoryType == hipMemoryTypeArray || copy->dstMemoryType == hipMemoryTypeArray)
        return hip_not_supported("a copy of an array");
    *volume = (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcXInBytes,
        .srcY = copy->srcY,
        .srcZ = copy->srcZ,
        .srcLOD = copy->srcLOD,
        .srcMemoryType = memory_type(copy->srcMemoryType),
        .srcHost = copy->srcHost,
        .srcDevice = hip_address(copy->srcDevice),
        .srcPitch = copy->srcPitch,
        .srcHeight = copy->srcHeight,
        .dstXInBytes = copy->dstXInBytes,
        .dstY = copy->dstY,
        .dstZ = copy->dstZ,
        .dstLOD = copy->dstLOD,
        .dstMemoryType = memory_type(copy->dstMemoryType),
        .dstHost = copy->dstHost,
        .dstDevice = hip_address(copy->dstDevice),
        .dstPitch = copy->dstPitch,
        .dstHeight = copy->dstHeight,
        .WidthInBytes = copy->WidthInBytes,
        .Height = copy->Height,
        .Depth = copy->Depth,
    };
    return hipSuccess;
}

/* Selects host or device address by the copy's direction. */
static const struct {
    CUmemorytype from, to;
} sides[] = {
    [hipMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
    [hipMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
    [hipMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
    [hipMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
    [hipMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
};

hipError_t hip_volume_runtime(const hipMemcpy3DParms *copy, CUDA_MEMCPY3D *volume)
{
    if (copy == NULL)
        return hipErrorInvalidValue;
    if (copy->srcArray != NULL || copy->dstArray != NULL)
        return hip_not_supported("a copy of an array");
    if ((unsigned)copy->kind > hipMemcpyDefault)
        return hipErrorInvalidMemcpyDirection;
    *volume = (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcPos.x,
        .srcY = copy->srcPos.y,
        .srcZ = copy->srcPos.z,
        .srcMemoryType = sides[copy->kind].from,
        .srcHost = copy->srcPtr.ptr,
        .srcDevice = hip_address(copy->srcPtr.ptr),
        .srcPitch = copy->srcPtr.pitch,
        .srcHeight = copy->srcPtr.ysize,
        .dstXInBytes = copy->dstPos.x,
        .dstY = copy->dstPos.y,
        .dstZ = copy->dstPos.z,
        .dstMemoryType = sides[copy->kind].to,
        .dstHost = copy->dstPtr.ptr,
        .dstDevice = hip_address(copy->dstPtr.ptr),
        .dstPitch = copy->dstPtr.pitch,
        .dstHeight = copy->dstPtr.ysize,
        .WidthInBytes = copy->extent.width,
        .Height = copy->extent.height,
        .Depth = copy->extent.depth,
    };
    return hipSuccess;
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *pCopy)
{
    CUDA_MEMCPY2D rows;
    HIP_READY();
    const hipError_t error = hip_rows(pCopy, &rows);
    return error == hipSuccess ? hip_result(cuMemcpy2D(&rows)) : error;
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *pCopy)
{
    CUDA_MEMCPY2D rows;
    HIP_READY();
    const hipError_t error = hip_rows(pCopy, &rows);
    return error == hipSuccess ? hip_result(cuMemcpy2DUnaligned(&rows)) : error;
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *pCopy, hipStream_t stream)
{
    CUDA_MEMCPY2D rows;
    HIP_READY();
    const hipError_t error = hip_rows(pCopy, &rows);
    return error == hipSuccess ? hip_result(cuMemcpy2DAsync(&rows, (CUstream)stream)) : error;
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *pCopy)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume(pCopy, &volume);
    return error == hipSuccess ? hip_result(cuMemcpy3D(&volume)) : error;
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *pCopy, hipStream_t stream)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume(pCopy, &volume);
    return error == hipSuccess ? hip_result(cuMemcpy3DAsync(&volume, (CUstream)stream)) : error;
}

hipError_t hipMemcpy3D(const struct hipMemcpy3DParms *p)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume_runtime(p, &volume);
    return error == hipSuccess ? hip_result(cuMemcpy3D(&volume)) : error;
}

hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms *p, hipStream_t stream)
{
    CUDA_MEMCPY3D volume;
    HIP_READY();
    const hipError_t error = hip_volume_runtime(p, &volume);
    return error == hipSuccess ? hip_result(cuMemcpy3DAsync(&volume, (CUstream)stream)) : error;
}

hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p)
{
    const hipError_t error = hipMemcpy3DAsync(p, hipStreamPerThread);
    return error == hipSuccess ? hip_result(cuStreamSynchronize(CU_STREAM_PER_THREAD)) : error;
}
