#include "cuda/probe/device.h"

#include <cuda.h>

#include "core/driver/slots.h"
#include "real.h"
#include "surface.h"

static int query(CUdevice_attribute attribute)
{
    CUdevice device = 0;
    int value = 0;
    return NB_REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS &&
                   NB_REAL(cuDeviceGetAttribute)(&value, attribute, device) == CUDA_SUCCESS
               ? value
               : 0;
}

uint32_t nb_device_capability(void)
{
    return (uint32_t)(10 * query(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      query(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

bool nb_device_is_pageable(void)
{
    return query(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
}
