#include "kernel.h"

hipError_t hip_kernel(const void *kernel, CUfunction *function)
{
    CUmodule module;
    if (kernel == NULL)
        return hipErrorInvalidDeviceFunction;
    if (cudaGetFuncBySymbol(function, kernel) == cudaSuccess)
        return hipSuccess;
    *function = (CUfunction)(uintptr_t)kernel;
    return cuFuncGetModule(&module, *function) == CUDA_SUCCESS ? hipSuccess : hipErrorInvalidDeviceFunction;
}

_Static_assert(HIP_LAUNCH_PARAM_BUFFER_POINTER == CU_LAUNCH_PARAM_BUFFER_POINTER &&
                   HIP_LAUNCH_PARAM_BUFFER_SIZE == CU_LAUNCH_PARAM_BUFFER_SIZE,
               "the same words, but for the last");

hipError_t hip_extra(void **given, void *extra[HIP_EXTRA_WORDS])
{
    if (given[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || given[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
        given[4] != HIP_LAUNCH_PARAM_END)
        return hipErrorInvalidValue;
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = given[1];
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = given[3];
    extra[4] = CU_LAUNCH_PARAM_END;
    return hipSuccess;
}
