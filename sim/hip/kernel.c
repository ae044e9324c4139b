#include "hip/kernel.h"

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

static size_t argument_bytes(CUfunction function)
{
    size_t end = 0, offset, bytes;
    for (size_t i = 0; cuFuncGetParamInfo(function, i, &offset, &bytes) == CUDA_SUCCESS; i++)
        end = offset + bytes;
    return end;
}

hipError_t hip_extra(CUfunction function, void *const *given, struct hip_extra *extra)
{
    if (given[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || given[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
        given[3] == NULL || given[4] != HIP_LAUNCH_PARAM_END)
        return hipErrorInvalidValue;
    *extra = (struct hip_extra){argument_bytes(function),
                                {CU_LAUNCH_PARAM_BUFFER_POINTER, given[1], CU_LAUNCH_PARAM_BUFFER_SIZE,
                                 &extra->bytes, CU_LAUNCH_PARAM_END}};
    return extra->bytes <= *(const size_t *)given[3] ? hipSuccess : hipErrorInvalidValue;
}
