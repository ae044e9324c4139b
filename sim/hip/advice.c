/* Advice on managed memory. */
#include "hip.h"

_Static_assert((int)hipMemAdviseUnsetAccessedBy == (int)CU_MEM_ADVISE_UNSET_ACCESSED_BY &&
                   (int)hipMemRangeAttributeLastPrefetchLocation ==
                       (int)CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION &&
                   hipCpuDeviceId == CU_DEVICE_CPU && hipInvalidDeviceId == CU_DEVICE_INVALID,
               "numbers are handed on as they are");

static CUmemLocation place(int device)
{
    return device == hipCpuDeviceId ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                                    : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

hipError_t hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    HIP_READY();
    return hip_result(cuMemPrefetchAsync(hip_address(dev_ptr), count, place(device), 0, (CUstream)stream));
}

/* How coherent memory is between the host and a device that is the host makes no difference. */
hipError_t hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device)
{
    HIP_READY();
    if (advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain)
        return dev_ptr == NULL || count == 0 ? hipErrorInvalidValue : hipSuccess;
    return hip_result(cuMemAdvise(hip_address(dev_ptr), count, (CUmem_advise)advice, place(device)));
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute,
                                   const void *dev_ptr, size_t count)
{
    HIP_READY();
    if (attribute == hipMemRangeAttributeCoherencyMode) {
        if (data == NULL || data_size != sizeof(int) || dev_ptr == NULL || count == 0)
            return hipErrorInvalidValue;
        *(int *)data = hipMemRangeCoherencyModeFineGrain;
        return hipSuccess;
    }
    return hip_result(cuMemRangeGetAttribute(data, data_size, (CUmem_range_attribute)attribute,
                                             hip_address(dev_ptr), count));
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_sizes, hipMemRangeAttribute *attributes,
                                    size_t num_attributes, const void *dev_ptr, size_t count)
{
    if (data == NULL || data_sizes == NULL || attributes == NULL || num_attributes == 0)
        return hipErrorInvalidValue;
    hipError_t error = hipSuccess;
    for (size_t i = 0; i < num_attributes && error == hipSuccess; i++)
        error = hipMemRangeGetAttribute(data[i], data_sizes[i], attributes[i], dev_ptr, count);
    return error;
}
