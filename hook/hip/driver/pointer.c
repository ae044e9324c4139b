/* Pointer attributes. */
#include "hip/driver/hip.h"

#include <string.h>

/* hipMemoryType has new numbers since 6.0, those of the CUDA runtime: 1 host, 2 device, 3 managed. */
static CUresult memory_type(uint32_t *type, CUdeviceptr address)
{
    uint32_t number = 0;
    const CUresult result = nb_hip_result(
        HIP(hipPointerGetAttribute)(&number, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, nb_hip_address(address)));
    if (result != CUDA_SUCCESS)
        return result;
    const uint32_t host = nb_hip_version() >= 600 ? 1 : 0;
    if (number == host)
        *type = CU_MEMORYTYPE_HOST;
    else if (number == host + 1)
        *type = CU_MEMORYTYPE_DEVICE;
    else
        *type = nb_hip_version() >= 600 && number == 3 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
    return CUDA_SUCCESS;
}

static CUresult context_of(CUcontext *context, CUdeviceptr address)
{
    int device = 0;
    const CUresult result = nb_hip_result(
        HIP(hipPointerGetAttribute)(&device, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, nb_hip_address(address)));
    if (result == CUDA_SUCCESS)
        *context = nb_hip_context(device);
    return result;
}

/* The other attributes have CUDA's numbers up to the memory pool's. HIP lacks the newer ones. */
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    if (data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return context_of(data, ptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return memory_type(data, ptr);
    default:
        return (int)attribute <= (int)HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
                   ? nb_hip_result(HIP(hipPointerGetAttribute)(data, (hipPointer_attribute)attribute,
                                                               nb_hip_address(ptr)))
                   : CUDA_ERROR_NOT_SUPPORTED;
    }
}

static size_t attribute_bytes(CUpointer_attribute attribute)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return 8;
    default:
        return 4;
    }
}

/* Reads one attribute after the other. An attribute without a value is 0, as in CUDA's driver. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr)
{
    if (attributes == NULL || data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; i++)
        if (cuPointerGetAttribute(data[i], attributes[i], ptr) != CUDA_SUCCESS && data[i] != NULL)
            memset(data[i], 0, attribute_bytes(attributes[i]));
    return CUDA_SUCCESS;
}
