/* Memory of the device and of the host. */
#include "hip.h"

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    void *address = NULL;
    const CUresult result =
        dptr != NULL ? (CUresult)HIP(hipMalloc)(&address, bytesize) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    void *address = NULL;
    const CUresult result = (CUresult)HIP(hipMallocManaged)(&address, bytesize, flags);
    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    hipDeviceptr_t address = NULL;
    const CUresult result =
        (CUresult)HIP(hipMemAllocPitch)(&address, pPitch, WidthInBytes, Height, ElementSizeBytes);
    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    return (CUresult)HIP(hipFree)(nb_hip_address(dptr));
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    return (CUresult)HIP(hipMemGetInfo)(free, total);
}

/* CUDA's pinned memory is always coherent with the device, and its flags have HIP's numbers. */
CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return (CUresult)HIP(hipHostMalloc)(pp, bytesize, Flags | hipHostMallocCoherent);
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return cuMemHostAlloc(pp, bytesize, 0);
}

CUresult cuMemFreeHost(void *p)
{
    return (CUresult)HIP(hipHostFree)(p);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    void *address = NULL;
    const CUresult result = (CUresult)HIP(hipHostGetDevicePointer)(&address, p, Flags);
    if (result == CUDA_SUCCESS)
        *pdptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return (CUresult)HIP(hipHostRegister)(p, bytesize, Flags);
}

CUresult cuMemHostUnregister(void *p)
{
    return (CUresult)HIP(hipHostUnregister)(p);
}

/* ---- pools, in a stream's order (since 5.1) ------------------------------------------------------------ */

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return (CUresult)HIP(hipDeviceGetMemPool)((hipMemPool_t *)pool, dev);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    return (CUresult)HIP(hipDeviceGetDefaultMemPool)((hipMemPool_t *)pool_out, dev);
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    void *address = NULL;
    const CUresult result = (CUresult)HIP(hipMallocAsync)(&address, bytesize, nb_hip_stream(hStream));
    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    void *address = NULL;
    const CUresult result =
        (CUresult)HIP(hipMallocFromPoolAsync)(&address, bytesize, (hipMemPool_t)pool, nb_hip_stream(hStream));
    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)address;
    return result;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return (CUresult)HIP(hipFreeAsync)(nb_hip_address(dptr), nb_hip_stream(hStream));
}

/* hipMemPoolProps is the driver's structure of CUDA 11.2: what came later is zero there, and means "no". */
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    _Static_assert(sizeof(hipMemPoolProps) == sizeof *poolProps, "as HIP took it from the driver");
    return (CUresult)HIP(hipMemPoolCreate)((hipMemPool_t *)pool, (const void *)poolProps);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return (CUresult)HIP(hipMemPoolDestroy)((hipMemPool_t)pool);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    return (CUresult)HIP(hipMemPoolTrimTo)((hipMemPool_t)pool, minBytesToKeep);
}
