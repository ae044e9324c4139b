/* Pointer attributes. */
#include "hip/hip.h"

#include <stdint.h>

_Static_assert((int)HIP_POINTER_ATTRIBUTE_CONTEXT == (int)CU_POINTER_ATTRIBUTE_CONTEXT &&
                   (int)HIP_POINTER_ATTRIBUTE_BUFFER_ID == (int)CU_POINTER_ATTRIBUTE_BUFFER_ID &&
                   (int)HIP_POINTER_ATTRIBUTE_RANGE_SIZE == (int)CU_POINTER_ATTRIBUTE_RANGE_SIZE &&
                   (int)HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE == (int)CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
               "numbers are handed on as they are");

/* `isManaged` marks managed memory. An unknown address is an error, as in HIP 5. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)
{
    struct cudaPointerAttributes found;
    if (attributes == NULL || ptr == NULL)
        return hipErrorInvalidValue;
    const hipError_t error = hip_result(cudaPointerGetAttributes(&found, ptr));
    *attributes = (hipPointerAttribute_t){0};
    if (error != hipSuccess || found.type == cudaMemoryTypeUnregistered)
        return error == hipSuccess ? hipErrorInvalidValue : error;
    attributes->memoryType = found.type == cudaMemoryTypeHost ? hipMemoryTypeHost : hipMemoryTypeDevice;
    attributes->device = found.device;
    attributes->devicePointer = found.devicePointer;
    attributes->hostPointer = found.hostPointer;
    attributes->isManaged = found.type == cudaMemoryTypeManaged;
    if (found.type == cudaMemoryTypeHost)
        (void)cuMemHostGetFlags(&attributes->allocationFlags, (void *)(uintptr_t)ptr);
    return hipSuccess;
}

static unsigned memory_type(unsigned type)
{
    return type == CU_MEMORYTYPE_HOST ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
    HIP_READY();
    const hipError_t error =
        hip_result(cuPointerGetAttribute(data, (CUpointer_attribute)attribute, hip_address(ptr)));
    if (error == hipSuccess && attribute == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned *)data = memory_type(*(unsigned *)data);
    return error;
}

/* Attributes of unknown memory are 0. */
hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute *attributes,
                                      void **data, hipDeviceptr_t ptr)
{
    HIP_READY();
    const hipError_t error = hip_result(cuPointerGetAttributes(
        numAttributes, (CUpointer_attribute *)(void *)attributes, data, hip_address(ptr)));
    for (unsigned i = 0; error == hipSuccess && i < numAttributes; i++) {
        unsigned *type = data[i];
        if (attributes[i] == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE && *type != 0)
            *type = memory_type(*type);
    }
    return error;
}
