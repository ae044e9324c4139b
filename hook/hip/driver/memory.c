/* Memory of the device and of the host. */
#include "hip/driver/hip.h"

/* Without a place for its answer the library says only whether the call is allowed
 * (hook/cuda/memory/memory.c). */
CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    void *address = NULL;
    const CUresult result = nb_hip_result(HIP(hipMalloc)(dptr != NULL ? &address : NULL, bytesize));
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    void *address = NULL;
    const CUresult result =
        nb_hip_result(HIP(hipMallocManaged)(dptr != NULL ? &address : NULL, bytesize, flags));
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    hipDeviceptr_t address = NULL;
    const CUresult result = nb_hip_result(HIP(hipMemAllocPitch)(dptr != NULL ? &address : NULL, pPitch,
                                                                WidthInBytes, Height, ElementSizeBytes));
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    return nb_hip_result(HIP(hipFree)(nb_hip_address(dptr)));
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    return nb_hip_result(HIP(hipMemGetInfo)(free, total));
}

/* CUDA's pinned memory is always coherent with the device, and its flags have HIP's numbers. */
CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return nb_hip_result(HIP(hipHostMalloc)(pp, bytesize, Flags | hipHostMallocCoherent));
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return cuMemHostAlloc(pp, bytesize, 0);
}

CUresult cuMemFreeHost(void *p)
{
    return nb_hip_result(HIP(hipHostFree)(p));
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    void *address = NULL;
    const CUresult result =
        nb_hip_result(HIP(hipHostGetDevicePointer)(pdptr != NULL ? &address : NULL, p, Flags));
    if (result == CUDA_SUCCESS && pdptr != NULL)
        *pdptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return nb_hip_result(HIP(hipHostRegister)(p, bytesize, Flags));
}

CUresult cuMemHostUnregister(void *p)
{
    return nb_hip_result(HIP(hipHostUnregister)(p));
}

/* ---- pools, in a stream's order (since 5.1) ------------------------------------------------------------ */

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return nb_hip_result(HIP(hipDeviceGetMemPool)((hipMemPool_t *)pool, dev));
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    return nb_hip_result(HIP(hipDeviceGetDefaultMemPool)((hipMemPool_t *)pool_out, dev));
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    void *address = NULL;
    const CUresult result =
        nb_hip_result(HIP(hipMallocAsync)(dptr != NULL ? &address : NULL, bytesize, nb_hip_stream(hStream)));
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    void *address = NULL;
    const CUresult result = nb_hip_result(HIP(hipMallocFromPoolAsync)(
        dptr != NULL ? &address : NULL, bytesize, (hipMemPool_t)pool, nb_hip_stream(hStream)));
    if (result == CUDA_SUCCESS && dptr != NULL)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return nb_hip_result(HIP(hipFreeAsync)(nb_hip_address(dptr), nb_hip_stream(hStream)));
}

/* hipMemPoolProps is the driver's structure of CUDA 11.2: what came later is zero there, and means "no". */
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    _Static_assert(sizeof(hipMemPoolProps) == sizeof *poolProps, "as HIP took it from the driver");
    return nb_hip_result(HIP(hipMemPoolCreate)((hipMemPool_t *)pool, (const void *)poolProps));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return nb_hip_result(HIP(hipMemPoolDestroy)((hipMemPool_t)pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    return nb_hip_result(HIP(hipMemPoolTrimTo)((hipMemPool_t)pool, minBytesToKeep));
}
