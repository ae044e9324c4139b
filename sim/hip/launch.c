/* Launches whose parameters differ from the CUDA runtime's. */
#include "hip/hip.h"

#include "hip/kernel.h"

#include <limits.h>

static hipError_t launch(hipFunction_t f, dim3 grid, dim3 block, unsigned shared, hipStream_t stream,
                         void **parameters, void **given)
{
    struct hip_extra extra;
    HIP_READY();
    if (parameters == NULL && given != NULL) {
        const hipError_t error = hip_extra((CUfunction)f, given, &extra);
        if (error != hipSuccess)
            return error;
    }
    return hip_result(cuLaunchKernel((CUfunction)f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                                     (CUstream)stream, parameters,
                                     parameters == NULL && given != NULL ? extra.words : NULL));
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                 unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                 unsigned int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream,
                                 void **kernelParams, void **extra)
{
    const dim3 grid = {gridDimX, gridDimY, gridDimZ};
    const dim3 block = {blockDimX, blockDimY, blockDimZ};
    return launch(f, grid, block, sharedMemBytes, stream, kernelParams, extra);
}

static hipError_t record(hipEvent_t event, hipStream_t stream)
{
    return event == NULL ? hipSuccess : hip_result(cuEventRecord((CUevent)event, (CUstream)stream));
}

/* The grid is in threads. This device does not run partial blocks. */
static bool blocks_of(uint32_t threads, uint32_t block, uint32_t *blocks)
{
    *blocks = block == 0 ? 0 : threads / block;
    return block != 0 && threads % block == 0;
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
    const dim3 block = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};
    dim3 grid;
    (void)flags;
    if (!blocks_of(globalWorkSizeX, block.x, &grid.x) || !blocks_of(globalWorkSizeY, block.y, &grid.y) ||
        !blocks_of(globalWorkSizeZ, block.z, &grid.z) || sharedMemBytes > UINT_MAX)
        return hipErrorInvalidConfiguration;
    HIP_READY();
    hipError_t error = record(startEvent, hStream);
    if (error == hipSuccess)
        error = launch(f, grid, block, (unsigned)sharedMemBytes, hStream, kernelParams, extra);
    return error == hipSuccess ? record(stopEvent, hStream) : error;
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent)
{
    return hipExtModuleLaunchKernel(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ, localWorkSizeX,
                                    localWorkSizeY, localWorkSizeZ, sharedMemBytes, hStream, kernelParams,
                                    extra, startEvent, stopEvent, 0);
}

hipError_t hipExtLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                              size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                              hipEvent_t stopEvent, int flags)
{
    (void)flags;
    HIP_READY();
    hipError_t error = record(startEvent, stream);
    if (error == hipSuccess)
        error = hipLaunchKernel(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream);
    return error == hipSuccess ? record(stopEvent, stream) : error;
}

/* The machine has one device, so the list has one launch. */
static hipError_t launch_each(hipLaunchParams *list, int devices, bool cooperative)
{
    if (list == NULL || devices != 1)
        return devices > 1 ? hipErrorInvalidDevice : hipErrorInvalidValue;
    return cooperative ? hipLaunchCooperativeKernel(list->func, list->gridDim, list->blockDim, list->args,
                                                    (unsigned)list->sharedMem, list->stream)
                       : hipLaunchKernel(list->func, list->gridDim, list->blockDim, list->args,
                                         list->sharedMem, list->stream);
}

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                                 unsigned int flags)
{
    (void)flags;
    return launch_each(launchParamsList, numDevices, true);
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                              unsigned int flags)
{
    (void)flags;
    return launch_each(launchParamsList, numDevices, false);
}
