#include "runtime/launch_config.h"
#include "runtime/registry.h"

#include <string.h>

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                      cudaStream_t stream);

/* Whether no kernel can have this grid. The runtime checks more than the driver. */
static bool is_impossible(const CUlaunchConfig *config)
{
    static const struct {
        size_t member;
        CUdevice_attribute limit;
    } extents[] = {
        {offsetof(CUlaunchConfig, gridDimX), CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
        {offsetof(CUlaunchConfig, gridDimY), CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
        {offsetof(CUlaunchConfig, gridDimZ), CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
        {offsetof(CUlaunchConfig, blockDimX), CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
        {offsetof(CUlaunchConfig, blockDimY), CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
        {offsetof(CUlaunchConfig, blockDimZ), CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    };
    const CUdevice device = runtime_device();
    int limit = 0;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        unsigned extent;
        memcpy(&extent, (const char *)config + extents[i].member, sizeof extent);
        if (DRIVER(cuDeviceGetAttribute)(&limit, extents[i].limit, device) == CUDA_SUCCESS &&
            (extent == 0 || extent > (unsigned)limit))
            return true;
    }
    const unsigned long threads = (unsigned long)config->blockDimX * config->blockDimY * config->blockDimZ;
    return DRIVER(cuDeviceGetAttribute)(&limit, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) ==
               CUDA_SUCCESS &&
           threads > (unsigned long)limit;
}

static cudaError_t launch(CUkernel kernel, const CUlaunchConfig *config, void **args)
{
    const CUfunction function = (CUfunction)kernel; /* cuLaunchKernel accepts both */
    CUresult result;
    if (config->numAttrs != 0)
        result = DRIVER(cuLaunchKernelEx)(config, function, args, NULL);
    else
        result = DRIVER(cuLaunchKernel)(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                                        config->blockDimX, config->blockDimY, config->blockDimZ,
                                        config->sharedMemBytes, config->hStream, args, NULL);
    if (result == CUDA_ERROR_INVALID_VALUE && is_impossible(config))
        result = (CUresult)cudaErrorInvalidConfiguration;
    return runtime_result(result);
}

static CUlaunchConfig shape(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    return launch_config(&(cudaLaunchConfig_t){
        .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared, .stream = stream});
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return runtime_kernel(host, kernel);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    return kernelPtr == NULL ? runtime_error(cudaErrorInvalidValue)
                             : runtime_kernel(entryFuncAddr, kernelPtr);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream)
{
    READY();
    if (kernel == NULL) { /* __cudaGetKernel, which each stub calls once, has reported the reason */
        const cudaError_t reason = cudaPeekAtLastError();
        return runtime_error(reason == cudaSuccess ? cudaErrorInvalidDeviceFunction : reason);
    }
    const CUlaunchConfig config = shape(grid, block, shared, stream);
    return launch(kernel, &config, args);
}

PER_THREAD(__cudaLaunchKernel_ptsz,
           (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
           __cudaLaunchKernel(kernel, grid, block, args, shared, runtime_per_thread(stream)))

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                             cudaStream_t stream)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(func, &kernel);
    const CUlaunchConfig config = shape(gridDim, blockDim, sharedMem, stream);
    return error == cudaSuccess ? launch(kernel, &config, args) : error;
}

PER_THREAD(cudaLaunchKernel_ptsz,
           (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
            cudaStream_t stream),
           cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, runtime_per_thread(stream)))

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(func, &kernel);
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = shape(gridDim, blockDim, sharedMem, stream);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    return error == cudaSuccess ? launch(kernel, &config, args) : error;
}

PER_THREAD(cudaLaunchCooperativeKernel_ptsz,
           (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
            cudaStream_t stream),
           cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, runtime_per_thread(stream)))

static cudaError_t launch_configured(const cudaLaunchConfig_t *config, const void *func, void **args,
                                     bool per_thread)
{
    CUkernel kernel;
    if (config == NULL)
        return runtime_error(cudaErrorInvalidValue);
    const cudaError_t error = runtime_kernel(func, &kernel);
    CUlaunchConfig driver = launch_config(config);
    if (per_thread)
        driver.hStream = runtime_per_thread(driver.hStream);
    return error == cudaSuccess ? launch(kernel, &driver, args) : error;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    return launch_configured(config, func, args, false);
}

PER_THREAD(cudaLaunchKernelExC_ptsz, (const cudaLaunchConfig_t *config, const void *func, void **args),
           launch_configured(config, func, args, true))
