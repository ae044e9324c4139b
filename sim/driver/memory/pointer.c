/* cuPointerGetAttribute and its variants. */
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/memory/memory.h"
#include "driver/memory/vmm.h"

#include <string.h>

/* The memory at an address, or its reservation. */
struct known {
    CUdeviceptr address;
    struct sim_range range;
    bool is_memory;
    uint64_t reserved_begin,
        reserved_end; /* the reservation that contains the address, or the memory itself */
};

static bool find(CUdeviceptr address, struct known *known)
{
    known->address = address;
    known->is_memory = sim_range_find(address, &known->range);
    if (known->is_memory && known->range.kind != SIM_MEMORY_MAPPED) {
        known->reserved_begin = known->range.begin;
        known->reserved_end = known->range.end;
        return true;
    }
    return sim_vmm_find_reservation(address, &known->reserved_begin, &known->reserved_end);
}

/* Size of an attribute's value. 0: unknown attribute. */
static size_t value_bytes(CUpointer_attribute attribute)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
#if CUDA_VERSION >= 13040
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL:
#endif
        return 4;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
#if CUDA_VERSION >= 12080
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
#endif
        return 1;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return 8;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return sizeof(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS);
    default:
        return 0;
    }
}

static bool is_host(const struct sim_range *range)
{
    return range->kind == SIM_MEMORY_HOST || range->kind == SIM_MEMORY_REGISTERED;
}

/* Attributes with numbers, defined for all kinds of memory. False: another attribute. */
static bool number_of(CUpointer_attribute attribute, const struct known *known, uint64_t *number)
{
    const struct sim_range *range = &known->range;
    const bool mapped = range->kind == SIM_MEMORY_MAPPED;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *number = (uint64_t)(uintptr_t)range->context;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *number = is_host(range) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *number = known->address;
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *number = range->synchronous;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *number = range->id;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *number = range->kind == SIM_MEMORY_MANAGED;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *number = SIM_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *number = mapped ? (uint64_t)range->physical->properties.requestedHandleTypes : 0;
        return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *number = (uint64_t)range->access; /* sim_access has the API's values */
        return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *number = (uint64_t)(uintptr_t)range->pool;
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *number = range->begin;
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *number = range->end - range->begin;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *number = mapped ? range->physical->id : range->id;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: /* no device with legacy IPC */
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
#if CUDA_VERSION >= 12080
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
#endif
        *number = 0;
        return true;
#if CUDA_VERSION >= 13040
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL:
        *number = UINT64_MAX; /* -1: no such device */
        return true;
#endif
    default:
        return false;
    }
}

static CUresult get(void *data, CUpointer_attribute attribute, const struct known *known)
{
    uint64_t number;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        number = known->reserved_begin;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        number = known->reserved_end - known->reserved_begin;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        number = known->is_memory;
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: /* needs a kernel module that does not exist here */
        return CUDA_ERROR_NOT_SUPPORTED;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!known->is_memory || (!is_host(&known->range) && known->range.kind != SIM_MEMORY_MANAGED))
            return CUDA_ERROR_INVALID_VALUE;
        number = known->address;
        break;
    default:
        if (!known->is_memory || !number_of(attribute, known, &number))
            return CUDA_ERROR_INVALID_VALUE;
        break;
    }
    memcpy(data, &number, value_bytes(attribute)); /* the low bytes */
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_context *context;
    struct known known;
    const CUresult result = sim_enter_faulted(NULL, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (data == NULL || value_bytes(attribute) == 0 || !find(ptr, &known))
        return CUDA_ERROR_INVALID_VALUE;
    return get(data, attribute, &known);
}

/* "the attributes are assigned default NULL values" (cuda.h) if they are not available. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    struct sim_context *context;
    struct known known;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (attributes == NULL || data == NULL || numAttributes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; i++)
        if (data[i] == NULL || value_bytes(attributes[i]) == 0)
            return CUDA_ERROR_INVALID_VALUE;
    const bool found = find(ptr, &known);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (found && get(data[i], attributes[i], &known) == CUDA_SUCCESS)
            continue;
        memset(data[i], 0, value_bytes(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}

/* Copies are never reordered with other accesses here, so the value is only stored. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_context *context;
    const CUresult result = sim_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
        !sim_range_set_synchronous(ptr, *(const unsigned *)value != 0))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
