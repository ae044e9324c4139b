/* cuPointerGetAttribute(s): what an address is. */
#include "context.h"
#include "device.h"
#include "memory.h"

#include <string.h>

static bool is_host(const struct sim_range *range)
{
    return range->kind == SIM_MEMORY_HOST || range->kind == SIM_MEMORY_REGISTERED;
}

static CUresult get(void *data, CUpointer_attribute attribute, CUdeviceptr ptr, const struct sim_range *range)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = (CUcontext)range->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = is_host(range) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host(range) && range->kind != SIM_MEMORY_MANAGED)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        memset(data, 0, attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? sizeof(int) : sizeof(unsigned char));
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = range->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = range->kind == SIM_MEMORY_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = SIM_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = range->begin;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = range->end - range->begin;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned char *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = range->access; /* the same values */
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = (CUmemoryPool)range->pool;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (data == NULL || !sim_range_find(ptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    return get(data, attribute, ptr, &range);
}

/* Bytes of an attribute's value, to clear it where the pointer is unknown. */
static size_t value_bytes(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return 4;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return 1;
    default:
        return 8;
    }
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (attributes == NULL || data == NULL || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const bool known = sim_range_find(ptr, &range);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (known && get(data[i], attributes[i], ptr, &range) == CUDA_SUCCESS)
            continue;
        memset(data[i], 0, value_bytes(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = -2; /* what the API documents for memory that is not CUDA's */
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_context *context;
    struct sim_range range;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !sim_range_find(ptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS; /* copies here are never reordered with other accesses */
}
