/* Launches from before hipLaunchKernel: set the grid, then each argument, then launch. */
#include "hip/hip.h"

#include "hip/kernel.h"

#include <limits.h>
#include <string.h>

#define ARGUMENTS_BYTES 4096u /* the maximum of a kernel */
#define LAUNCHES_MAX    32u   /* whose arguments launch kernels */

static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    hipStream_t stream;
    size_t bytes;
    _Alignas(16) unsigned char arguments[ARGUMENTS_BYTES];
} launches[LAUNCHES_MAX];
static _Thread_local unsigned depth;

hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    if (depth == LAUNCHES_MAX)
        return hipErrorLaunchOutOfResources;
    launches[depth].grid = gridDim;
    launches[depth].block = blockDim;
    launches[depth].shared = sharedMem;
    launches[depth].stream = stream;
    launches[depth++].bytes = 0;
    return hipSuccess;
}

hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset)
{
    if (depth == 0)
        return hipErrorMissingConfiguration;
    if (arg == NULL || offset > ARGUMENTS_BYTES || size > ARGUMENTS_BYTES - offset)
        return hipErrorInvalidValue;
    memcpy(launches[depth - 1].arguments + offset, arg, size);
    if (launches[depth - 1].bytes < offset + size)
        launches[depth - 1].bytes = offset + size;
    return hipSuccess;
}

hipError_t hipLaunchByPtr(const void *func)
{
    CUfunction function;
    if (depth == 0)
        return hipErrorMissingConfiguration;
    const unsigned at = --depth;
    const hipError_t error = hip_kernel(func, &function);
    if (error != hipSuccess)
        return error;
    const dim3 grid = launches[at].grid;
    const dim3 block = launches[at].block;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, launches[at].arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                     &launches[at].bytes, HIP_LAUNCH_PARAM_END};
    if (launches[at].shared > UINT_MAX)
        return hipErrorInvalidConfiguration;
    return hipModuleLaunchKernel((hipFunction_t)function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                 (unsigned)launches[at].shared, launches[at].stream, NULL, extra);
}
