/* Launches. */
#include "hip/driver/hip.h"

#include <stddef.h>

void **nb_hip_packed(void **extra, void *into[NB_HIP_PACKED_MAX])
{
    int count = 0;
    if (extra == NULL)
        return NULL;
    for (; count + 2 < NB_HIP_PACKED_MAX && extra[count] != CU_LAUNCH_PARAM_END &&
           extra[count] != HIP_LAUNCH_PARAM_END;
         count += 2) {
        into[count] = extra[count];
        into[count + 1] = extra[count + 1];
    }
    into[count] = HIP_LAUNCH_PARAM_END;
    return into;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    void *packed[NB_HIP_PACKED_MAX];
    return nb_hip_result(HIP(hipModuleLaunchKernel)(
        (hipFunction_t)f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
        nb_hip_stream(hStream), kernelParams, nb_hip_packed(extra, packed)));
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                   unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams)
{
    hipError_t (*const launch)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, hipStream_t, void **) =
        HIP_LATER(hipModuleLaunchCooperativeKernel,
                  (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   hipStream_t, void **)); /* since 5.5 */
    return launch != NULL
               ? nb_hip_result(launch((hipFunction_t)f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                                      blockDimZ, sharedMemBytes, nb_hip_stream(hStream), kernelParams))
               : CUDA_ERROR_NOT_SUPPORTED;
}

/* HIP has this function since 7.0 (the map says 6.5). It takes CUlaunchConfig's layout. */
static CUresult launch_by_library(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                  void **extra)
{
    hipError_t (*const launch)(const CUlaunchConfig *, hipFunction_t, void **, void **) =
        HIP_LATER(hipDrvLaunchKernelEx, (const CUlaunchConfig *, hipFunction_t, void **, void **));
    CUlaunchConfig copy = *config;
    void *packed[NB_HIP_PACKED_MAX];
    copy.hStream = (CUstream)nb_hip_stream(config->hStream);
    return launch != NULL
               ? nb_hip_result(launch(&copy, (hipFunction_t)f, kernelParams, nb_hip_packed(extra, packed)))
               : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    bool cooperative = false, other = false;
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = config->attrs[i].value.cooperative != 0;
        else
            other |= config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_IGNORE;
    }
    if (other || (cooperative && kernelParams == NULL && extra != NULL))
        return launch_by_library(config, f, kernelParams, extra);
    if (cooperative)
        return cuLaunchCooperativeKernel(f, config->gridDimX, config->gridDimY, config->gridDimZ,
                                         config->blockDimX, config->blockDimY, config->blockDimZ,
                                         config->sharedMemBytes, config->hStream, kernelParams);
    return cuLaunchKernel(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                          config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream,
                          kernelParams, extra);
}
