/* Calls that give a program memory which no capture holds (hook/cuda/memory/foreign.h). */
#include "cuda/memory/foreign.h"

#include "core/process/call.h"
#include "core/region/region.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

void nb_after_hip_alloc_managed(const struct nb_call *call, hipError_t result, void **dev_ptr, size_t size,
                                unsigned int flags)
{
    nb_after_alloc_managed(call, (CUresult)result, (CUdeviceptr *)dev_ptr, size, flags);
}

void nb_after_hip_alloc_host(const struct nb_call *call, hipError_t result, void **ptr, size_t size)
{
    nb_after_alloc_host(call, (CUresult)result, ptr, size);
}

void nb_after_hip_host_alloc(const struct nb_call *call, hipError_t result, void **ptr, size_t size,
                             unsigned int flags)
{
    nb_after_host_alloc(call, (CUresult)result, ptr, size, flags);
}

void nb_after_hip_free_host(const struct nb_call *call, hipError_t result, void *ptr)
{
    nb_after_free_host(call, (CUresult)result, ptr);
}

hipError_t nb_through_hip_host_register(const struct nb_call *call, nb_hipHostRegister_t real, void *hostPtr,
                                        size_t sizeBytes, unsigned int flags)
{
    return (hipError_t)nb_through_host_register(call, NB_SAME(cuMemHostRegister, real), hostPtr, sizeBytes,
                                                flags);
}

hipError_t nb_through_hip_host_unregister(const struct nb_call *call, nb_hipHostUnregister_t real,
                                          void *hostPtr)
{
    return (hipError_t)nb_through_host_unregister(call, NB_SAME(cuMemHostUnregister, real), hostPtr);
}

void nb_after_hip_ipc_open(const struct nb_call *call, hipError_t result, void **devPtr,
                           hipIpcMemHandle_t handle, unsigned int flags)
{
    (void)handle;
    nb_after_ipc_open(call, (CUresult)result, (CUdeviceptr *)devPtr, (CUipcMemHandle){{0}}, flags);
}

void nb_after_hip_ipc_close(const struct nb_call *call, hipError_t result, void *devPtr)
{
    nb_after_ipc_close(call, (CUresult)result, nb_address(devPtr));
}

void nb_after_hip_pool_import(const struct nb_call *call, hipError_t result, void **dev_ptr,
                              hipMemPool_t mem_pool, hipMemPoolPtrExportData *export_data)
{
    (void)export_data;
    nb_after_pool_import(call, (CUresult)result, (CUdeviceptr *)dev_ptr, (CUmemoryPool)mem_pool, NULL);
}

void nb_after_hip_external_buffer(const struct nb_call *call, hipError_t result, void **devPtr,
                                  hipExternalMemory_t extMem, const hipExternalMemoryBufferDesc *bufferDesc)
{
    if (result != hipSuccess || bufferDesc == NULL)
        return;
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC same = {.offset = bufferDesc->offset, .size = bufferDesc->size};
    nb_after_external_buffer(call, CUDA_SUCCESS, (CUdeviceptr *)devPtr, (CUexternalMemory)extMem, &same);
}
