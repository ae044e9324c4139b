/* Linear device memory: cuMemAlloc, cuMemFree and the queries about them. */
#include "driver/capture/capture.h"
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/graph/memory.h"
#include "driver/memory/extents.h"
#include "driver/memory/heap.h"
#include "driver/memory/memory.h"
#include "driver/stream/stream.h"

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (free != NULL)
        *free = sim_heap_available();
    if (total != NULL)
        *total = sim_device_memory();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    struct sim_context *context;
    const CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || bytesize == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t address = sim_memory_allocate(SIM_MEMORY_DEVICE, bytesize, 0, context);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    struct sim_context *context;
    const CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || bytesize == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t address = sim_memory_allocate(SIM_MEMORY_MANAGED, bytesize, flags, context);
    if (address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    struct sim_context *context;
    CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == NULL || pPitch == NULL || WidthInBytes == 0 || Height == 0 || WidthInBytes > 0x7fffffff ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t pitch = (WidthInBytes + SIM_ALIGNMENT - 1) & ~(size_t)(SIM_ALIGNMENT - 1);
    if (Height > SIZE_MAX / pitch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = cuMemAlloc_v2(dptr, pitch * Height);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

/* Waits for the context's work first, like a GPU's driver, so that running kernels keep their memory. */
CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    struct sim_context *context;
    CUresult result = sim_enter_unsafe(&context);
    if (result != CUDA_SUCCESS || dptr == 0)
        return result;
    result = sim_context_synchronize(context);
    if (sim_graph_memory_free(dptr, NULL, &result))
        return result;
    if (!sim_memory_free(dptr, SIM_MEMORY_FREEABLE))
        return CUDA_ERROR_INVALID_VALUE;
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_range_find(dptr, &range))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase != NULL)
        *pbase = range.begin;
    if (psize != NULL)
        *psize = range.end - range.begin;
    return CUDA_SUCCESS;
}
