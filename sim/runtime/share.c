/* Memory of other devices and other processes. */
#include "runtime/cudart.h"

#include <stdint.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                   sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle) &&
                   sizeof(struct cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
               "passed on unchanged");

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static cudaError_t copy_between(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                cudaStream_t stream, bool queued)
{
    CUcontext to, from;
    READY();
    CUresult result = runtime_primary_context(dstDevice, &to);
    if (result == CUDA_SUCCESS)
        result = runtime_primary_context(srcDevice, &from);
    if (result != CUDA_SUCCESS || count == 0)
        return runtime_result(result);
    return runtime_result(queued
                              ? DRIVER(cuMemcpyPeerAsync)(address(dst), to, address(src), from, count, stream)
                              : DRIVER(cuMemcpyPeer)(address(dst), to, address(src), from, count));
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    return copy_between(dst, dstDevice, src, srcDevice, count, NULL, false);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                cudaStream_t stream)
{
    return copy_between(dst, dstDevice, src, srcDevice, count, stream, true);
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    READY();
    CUresult result = runtime_primary_context(peerDevice, &peer);
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuCtxEnablePeerAccess)(peer, flags);
    /* documented: where cudaDeviceCanAccessPeer says no */
    return runtime_result(result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ? CUDA_ERROR_INVALID_DEVICE : result);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    READY();
    const CUresult result = runtime_primary_context(peerDevice, &peer);
    return runtime_result(result == CUDA_SUCCESS ? DRIVER(cuCtxDisablePeerAccess)(peer) : result);
}

FORWARD(cudaDeviceGetP2PAtomicCapabilities,
        (unsigned int *capabilities, const enum cudaAtomicOperation *operations, unsigned int count,
         int srcDevice, int dstDevice),
        cuDeviceGetP2PAtomicCapabilities, capabilities, (const CUatomicOperation *)(const void *)operations,
        count, srcDevice, dstDevice)

FORWARD(cudaMemPoolExportToShareableHandle,
        (void *shareableHandle, cudaMemPool_t memPool, enum cudaMemAllocationHandleType handleType,
         unsigned int flags),
        cuMemPoolExportToShareableHandle, shareableHandle, memPool, (CUmemAllocationHandleType)handleType,
        flags)
FORWARD(cudaMemPoolImportFromShareableHandle,
        (cudaMemPool_t * memPool, void *shareableHandle, enum cudaMemAllocationHandleType handleType,
         unsigned int flags),
        cuMemPoolImportFromShareableHandle, memPool, shareableHandle, (CUmemAllocationHandleType)handleType,
        flags)
FORWARD(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData * exportData, void *ptr),
        cuMemPoolExportPointer, (CUmemPoolPtrExportData *)(void *)exportData, address(ptr))
FORWARD(cudaMemPoolImportPointer,
        (void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData),
        cuMemPoolImportPointer, (CUdeviceptr *)(void *)ptr, memPool,
        (CUmemPoolPtrExportData *)(void *)exportData)

/* The CPU driver refuses handles of single allocations; a driver of a GPU may run under this library too. */
FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *devPtr), cuIpcGetMemHandle,
        (CUipcMemHandle *)(void *)handle, address(devPtr))
FORWARD(cudaIpcCloseMemHandle, (void *devPtr), cuIpcCloseMemHandle, address(devPtr))
FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event), cuIpcGetEventHandle,
        (CUipcEventHandle *)(void *)handle, event)

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle same;
    READY();
    __builtin_memcpy(&same, &handle, sizeof same);
    return runtime_result(DRIVER(cuIpcOpenMemHandle)((CUdeviceptr *)(void *)devPtr, same, flags));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle same;
    READY();
    __builtin_memcpy(&same, &handle, sizeof same);
    return runtime_result(DRIVER(cuIpcOpenEventHandle)(event, same));
}

FORWARD(cudaMemRangeGetAttribute,
        (void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr, size_t count),
        cuMemRangeGetAttribute, data, dataSize, (CUmem_range_attribute)attribute, address(devPtr), count)
FORWARD(cudaMemRangeGetAttributes,
        (void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes, size_t numAttributes,
         const void *devPtr, size_t count),
        cuMemRangeGetAttributes, data, dataSizes, (CUmem_range_attribute *)(void *)attributes, numAttributes,
        address(devPtr), count)
