/* Kernel attributes. */
#include "hip/hip.h"

/* Copies the members that HIP's structure shares with the CUDA runtime's. */
hipError_t hipFuncGetAttributes(struct hipFuncAttributes *attr, const void *func)
{
    struct cudaFuncAttributes found;
    if (attr == NULL)
        return hipErrorInvalidValue;
    const hipError_t error = hip_result(cudaFuncGetAttributes(&found, func));
    if (error != hipSuccess)
        return error;
    *attr = (struct hipFuncAttributes){
        .binaryVersion = found.binaryVersion,
        .cacheModeCA = found.cacheModeCA,
        .constSizeBytes = found.constSizeBytes,
        .localSizeBytes = found.localSizeBytes,
        .maxDynamicSharedSizeBytes = found.maxDynamicSharedSizeBytes,
        .maxThreadsPerBlock = found.maxThreadsPerBlock,
        .numRegs = found.numRegs,
        .preferredShmemCarveout = found.preferredShmemCarveout,
        .ptxVersion = found.ptxVersion,
        .sharedSizeBytes = found.sharedSizeBytes,
    };
    return hipSuccess;
}

/* AMD hardware has no such setting: accept it and report the default. */
hipError_t hipFuncSetCacheConfig(const void *func, hipFuncCache_t config)
{
    (void)func, (void)config;
    return hipSuccess;
}

hipError_t hipFuncSetSharedMemConfig(const void *func, hipSharedMemConfig config)
{
    (void)func, (void)config;
    return hipSuccess;
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig)
{
    (void)cacheConfig;
    return hipSuccess;
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    if (cacheConfig == NULL)
        return hipErrorInvalidValue;
    *cacheConfig = hipFuncCachePreferNone;
    return hipSuccess;
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
    (void)config;
    return hipSuccess;
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    if (pConfig == NULL)
        return hipErrorInvalidValue;
    *pConfig = hipSharedMemBankSizeFourByte;
    return hipSuccess;
}

hipError_t hipCtxSetCacheConfig(hipFuncCache_t cacheConfig)
{
    return hipDeviceSetCacheConfig(cacheConfig);
}

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    return hipDeviceGetCacheConfig(cacheConfig);
}

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
    return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    return hipDeviceGetSharedMemConfig(pConfig);
}
