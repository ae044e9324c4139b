/* Devices and their limits. */
#include "runtime/cudart.h"

#include <limits.h>

_Static_assert((int)cudaDevAttrMaxThreadsPerBlock == (int)CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK &&
                   (int)cudaLimitPersistingL2CacheSize == (int)CU_LIMIT_PERSISTING_L2_CACHE_SIZE &&
                   (int)cudaFuncCachePreferEqual == (int)CU_FUNC_CACHE_PREFER_EQUAL,
               "values are passed on unchanged");

/* Defines a function that calls the driver without a context. */
#define FORWARD_BARE(name, parameters, function, ...)                                                        \
    cudaError_t name parameters                                                                              \
    {                                                                                                        \
        const CUresult started = DRIVER(cuInit)(0);                                                          \
        return runtime_result(started == CUDA_SUCCESS ? DRIVER(function)(__VA_ARGS__) : started);            \
    }

FORWARD_BARE(cudaGetDeviceCount, (int *count), cuDeviceGetCount, count)
FORWARD_BARE(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device), cuDeviceGetAttribute,
             value, (CUdevice_attribute)attr, device)
FORWARD_BARE(cudaDeviceGetByPCIBusId, (int *device, const char *pciBusId), cuDeviceGetByPCIBusId, device,
             pciBusId)
FORWARD_BARE(cudaDeviceGetPCIBusId, (char *pciBusId, int len, int device), cuDeviceGetPCIBusId, pciBusId, len,
             device)
FORWARD_BARE(cudaDeviceCanAccessPeer, (int *canAccessPeer, int device, int peerDevice), cuDeviceCanAccessPeer,
             canAccessPeer, device, peerDevice)
FORWARD_BARE(cudaDeviceGetP2PAttribute,
             (int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice), cuDeviceGetP2PAttribute,
             value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice)

FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), cuCtxSetLimit, (CUlimit)limit, value)
FORWARD(cudaDeviceGetLimit, (size_t *pValue, enum cudaLimit limit), cuCtxGetLimit, pValue, (CUlimit)limit)
FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache cacheConfig), cuCtxSetCacheConfig,
        (CUfunc_cache)cacheConfig)
FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache * pCacheConfig), cuCtxGetCacheConfig,
        (CUfunc_cache *)(void *)pCacheConfig)
FORWARD(cudaDeviceGetStreamPriorityRange, (int *leastPriority, int *greatestPriority),
        cuCtxGetStreamPriorityRange, leastPriority, greatestPriority)
/* From cuda_profiler_api.h, which the wheel does not contain. */
EXPORT cudaError_t cudaProfilerStart(void);
EXPORT cudaError_t cudaProfilerStop(void);
FORWARD(cudaProfilerStart, (void), cuProfilerStart)
FORWARD(cudaProfilerStop, (void), cuProfilerStop)

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    return runtime_result(DRIVER(cuDriverGetVersion)(driverVersion));
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (runtimeVersion == NULL)
        return runtime_error(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

static cudaError_t entry_point(const char *symbol, void **function, unsigned version,
                               unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (version > INT_MAX)
        return runtime_error(cudaErrorInvalidValue);
    const CUresult result = DRIVER(cuGetProcAddress)(symbol, function, (int)version, flags, &found);
    if (status != NULL)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess
                                          : runtime_result(result); /* the status has the reason */
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus)
{
    READY();
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

/* Without a version: that of the runtime. */
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

PER_THREAD(cudaGetDriverEntryPointByVersion_ptsz,
           (const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
            enum cudaDriverEntryPointQueryResult *driverStatus),
           cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion,
                                            flags == cudaEnableDefault ? cudaEnablePerThreadDefaultStream
                                                                       : flags,
                                            driverStatus))
PER_THREAD(cudaGetDriverEntryPoint_ptsz,
           (const char *symbol, void **funcPtr, unsigned long long flags,
            enum cudaDriverEntryPointQueryResult *driverStatus),
           cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, CUDART_VERSION, flags, driverStatus))
