/* Hints about managed memory, which the driver remembers. */
#include "hip/hip.h"

_Static_assert((int)hipMemAdviseSetReadMostly == (int)CU_MEM_ADVISE_SET_READ_MOSTLY &&
                   (int)hipMemAdviseUnsetAccessedBy == (int)CU_MEM_ADVISE_UNSET_ACCESSED_BY &&
                   (int)hipMemRangeAttributeReadMostly == (int)CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
                   (int)hipMemRangeAttributeLastPrefetchLocation ==
                       (int)CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION &&
                   hipCpuDeviceId == CU_DEVICE_CPU && hipInvalidDeviceId == CU_DEVICE_INVALID,
               "numbers are handed on as they are");

static CUmemLocation location(int device)
{
    return device == hipCpuDeviceId ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                                    : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

hipError_t hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    HIP_READY();
    return hip_result(cuMemPrefetchAsync(hip_address(dev_ptr), count, location(device), 0, (CUstream)stream));
}

/* Caches are coherent whatever the grain. */
hipError_t hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device)
{
    HIP_READY();
    if (advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain)
        return dev_ptr == NULL || count == 0 ? hipErrorInvalidValue : hipSuccess;
    return hip_result(cuMemAdvise(hip_address(dev_ptr), count, (CUmem_advise)advice, location(device)));
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute,
                                   const void *dev_ptr, size_t count)
{
    HIP_READY();
    if (attribute != hipMemRangeAttributeCoherencyMode)
        return hip_result(cuMemRangeGetAttribute(data, data_size, (CUmem_range_attribute)attribute,
                                                 hip_address(dev_ptr), count));
    if (data == NULL || data_size != sizeof(int) || dev_ptr == NULL || count == 0)
        return hipErrorInvalidValue;
    *(int *)data = hipMemRangeCoherencyModeFineGrain;
    return hipSuccess;
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_sizes, hipMemRangeAttribute *attributes,
                                    size_t num_attributes, const void *dev_ptr, size_t count)
{
    hipError_t error = data == NULL || data_sizes == NULL || attributes == NULL || num_attributes == 0
                           ? hipErrorInvalidValue
                           : hipSuccess;
    for (size_t i = 0; i < num_attributes && error == hipSuccess; i++)
        error = hipMemRangeGetAttribute(data[i], data_sizes[i], attributes[i], dev_ptr, count);
    return error;
}
