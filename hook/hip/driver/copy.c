/* Copies. CUDA_MEMCPY3D becomes hipMemcpy3DParms, in graphs, too: HIP_MEMCPY3D has 32-bit sizes before 6.0.
 */
#include "hip/driver/hip.h"

/* ---- conversion from and to CUDA_MEMCPY3D -------------------------------------------------------------- */

static hipMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return hipMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

/* CUDA's driver accepts a pitch or height of 0 for one row or one slice. HIP needs both. */
static hipPitchedPtr pitched(void *start, size_t pitch, size_t height, const CUDA_MEMCPY3D *copy, size_t x,
                             size_t y)
{
    const size_t row = pitch != 0 ? pitch : x + copy->WidthInBytes;
    return (hipPitchedPtr){start, row, row, height != 0 ? height : y + copy->Height};
}

bool nb_hip_copy_of(const CUDA_MEMCPY3D *from, hipMemcpy3DParms *into)
{
    if (from->srcMemoryType == CU_MEMORYTYPE_ARRAY || from->dstMemoryType == CU_MEMORYTYPE_ARRAY ||
        from->srcLOD != 0 || from->dstLOD != 0)
        return false;
    void *const source = from->srcMemoryType == CU_MEMORYTYPE_HOST ? NB_HIP_HOST(from->srcHost)
                                                                   : nb_hip_address(from->srcDevice);
    void *const target =
        from->dstMemoryType == CU_MEMORYTYPE_HOST ? from->dstHost : nb_hip_address(from->dstDevice);
    *into = (hipMemcpy3DParms){
        .srcPos = {from->srcXInBytes, from->srcY, from->srcZ},
        .srcPtr = pitched(source, from->srcPitch, from->srcHeight, from, from->srcXInBytes, from->srcY),
        .dstPos = {from->dstXInBytes, from->dstY, from->dstZ},
        .dstPtr = pitched(target, from->dstPitch, from->dstHeight, from, from->dstXInBytes, from->dstY),
        .extent = {from->WidthInBytes, from->Height, from->Depth},
        .kind = kind_of(from->srcMemoryType, from->dstMemoryType)};
    return true;
}

static CUmemorytype type_of(bool array, hipMemcpyKind kind, hipMemcpyKind one, hipMemcpyKind other)
{
    if (array)
        return CU_MEMORYTYPE_ARRAY;
    if (kind == hipMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == one || kind == other ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

bool nb_hip_copy_to(const hipMemcpy3DParms *from, CUDA_MEMCPY3D *into)
{
    if ((unsigned)from->kind > hipMemcpyDefault)
        return false;
    *into = (CUDA_MEMCPY3D){.srcXInBytes = from->srcPos.x,
                            .srcY = from->srcPos.y,
                            .srcZ = from->srcPos.z,
                            .srcMemoryType = type_of(from->srcArray != NULL, from->kind,
                                                     hipMemcpyHostToDevice, hipMemcpyHostToHost),
                            .srcHost = from->srcPtr.ptr,
                            .srcDevice = (CUdeviceptr)(uintptr_t)from->srcPtr.ptr,
                            .srcArray = (CUarray)from->srcArray,
                            .srcPitch = from->srcPtr.pitch,
                            .srcHeight = from->srcPtr.ysize,
                            .dstXInBytes = from->dstPos.x,
                            .dstY = from->dstPos.y,
                            .dstZ = from->dstPos.z,
                            .dstMemoryType = type_of(from->dstArray != NULL, from->kind,
                                                     hipMemcpyDeviceToHost, hipMemcpyHostToHost),
                            .dstHost = from->dstPtr.ptr,
                            .dstDevice = (CUdeviceptr)(uintptr_t)from->dstPtr.ptr,
                            .dstArray = (CUarray)from->dstArray,
                            .dstPitch = from->dstPtr.pitch,
                            .dstHeight = from->dstPtr.ysize,
                            .WidthInBytes = from->extent.width,
                            .Height = from->extent.height,
                            .Depth = from->extent.depth};
    return true;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    hipMemcpy3DParms copy;
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return nb_hip_copy_of(pCopy, &copy) ? nb_hip_result(HIP(hipMemcpy3D)(&copy)) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    hipMemcpy3DParms copy;
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return nb_hip_copy_of(pCopy, &copy) ? nb_hip_result(HIP(hipMemcpy3DAsync)(&copy, nb_hip_stream(hStream)))
                                        : CUDA_ERROR_NOT_SUPPORTED;
}

/* A plane is a volume of one slice. */
static CUDA_MEMCPY3D space_of(const CUDA_MEMCPY2D *plane)
{
    return (CUDA_MEMCPY3D){.srcXInBytes = plane->srcXInBytes,
                           .srcY = plane->srcY,
                           .srcMemoryType = plane->srcMemoryType,
                           .srcHost = plane->srcHost,
                           .srcDevice = plane->srcDevice,
                           .srcArray = plane->srcArray,
                           .srcPitch = plane->srcPitch,
                           .dstXInBytes = plane->dstXInBytes,
                           .dstY = plane->dstY,
                           .dstMemoryType = plane->dstMemoryType,
                           .dstHost = plane->dstHost,
                           .dstDevice = plane->dstDevice,
                           .dstArray = plane->dstArray,
                           .dstPitch = plane->dstPitch,
                           .WidthInBytes = plane->WidthInBytes,
                           .Height = plane->Height,
                           .Depth = 1};
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D copy = space_of(pCopy);
    return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D copy = space_of(pCopy);
    return cuMemcpy3DAsync_v2(&copy, hStream);
}

/* HIP has no requirement on a pitch. */
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return cuMemcpy2D_v2(pCopy);
}

/* ---- one row ------------------------------------------------------------------------------------------- */
