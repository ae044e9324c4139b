/* Attributes and occupancy of kernels. */
#include "runtime/launch_config.h"
#include "runtime/registry.h"

#include <string.h>

_Static_assert((int)cudaFuncAttributeMaxDynamicSharedMemorySize ==
                       (int)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
                   (int)cudaFuncAttributeClusterSchedulingPolicyPreference ==
                       (int)CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
               "values are passed on unchanged");

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(symbolPtr, &kernel);
    return error == cudaSuccess ? runtime_result(DRIVER(cuKernelGetFunction)(functionPtr, kernel)) : error;
}

/* Defines a function that calls the driver with the kernel, `function`, in the current context. */
#define FORWARD_FUNCTION(name, parameters, driver, ...)                                                      \
    cudaError_t name parameters                                                                              \
    {                                                                                                        \
        CUfunction function;                                                                                 \
        const cudaError_t error = cudaGetFuncBySymbol(&function, func);                                      \
        return error == cudaSuccess ? runtime_result(DRIVER(driver)(__VA_ARGS__)) : error;                   \
    }

FORWARD_FUNCTION(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attr, int value),
                 cuFuncSetAttribute, function, (CUfunction_attribute)attr, value)
FORWARD_FUNCTION(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache cacheConfig),
                 cuFuncSetCacheConfig, function, (CUfunc_cache)cacheConfig)
FORWARD_FUNCTION(cudaFuncGetName, (const char **name, const void *func), cuFuncGetName, name, function)
FORWARD_FUNCTION(cudaFuncGetParamInfo,
                 (const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
                 cuFuncGetParamInfo, function, paramIndex, paramOffset, paramSize)
FORWARD_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                 (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize),
                 cuOccupancyMaxActiveBlocksPerMultiprocessor, numBlocks, function, blockSize, dynamicSMemSize)
FORWARD_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                 (int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
                  unsigned int flags),
                 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, numBlocks, function, blockSize,
                 dynamicSMemSize, flags)
FORWARD_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock,
                 (size_t *dynamicSmemSize, const void *func, int numBlocks, int blockSize),
                 cuOccupancyAvailableDynamicSMemPerBlock, dynamicSmemSize, function, numBlocks, blockSize)

FORWARD_FUNCTION(cudaOccupancyMaxPotentialClusterSize,
                 (int *clusterSize, const void *func, const cudaLaunchConfig_t *launchConfig),
                 cuOccupancyMaxPotentialClusterSize, clusterSize, function,
                 (CUlaunchConfig[]){launch_config(launchConfig)})
FORWARD_FUNCTION(cudaOccupancyMaxActiveClusters,
                 (int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig),
                 cuOccupancyMaxActiveClusters, numClusters, function,
                 (CUlaunchConfig[]){launch_config(launchConfig)})

#define ROW(member, attribute)                                                                               \
    {offsetof(struct cudaFuncAttributes, member), sizeof(((struct cudaFuncAttributes *)0)->member),          \
     CU_FUNC_ATTRIBUTE_##attribute}

static const struct {
    size_t offset, bytes; /* of the member, an int or a size_t */
    CUfunction_attribute attribute;
} rows[] = {
    ROW(sharedSizeBytes, SHARED_SIZE_BYTES),
    ROW(constSizeBytes, CONST_SIZE_BYTES),
    ROW(localSizeBytes, LOCAL_SIZE_BYTES),
    ROW(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    ROW(numRegs, NUM_REGS),
    ROW(ptxVersion, PTX_VERSION),
    ROW(binaryVersion, BINARY_VERSION),
    ROW(cacheModeCA, CACHE_MODE_CA),
    ROW(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES),
    ROW(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT),
    ROW(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET),
    ROW(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH),
    ROW(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT),
    ROW(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH),
    ROW(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE),
    ROW(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
};

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUfunction function;
    const cudaError_t error = cudaGetFuncBySymbol(&function, func);
    if (error != cudaSuccess)
        return error;
    if (attr == NULL)
        return runtime_error(cudaErrorInvalidValue);
    *attr = (struct cudaFuncAttributes){0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int value = 0;
        const CUresult result = DRIVER(cuFuncGetAttribute)(&value, rows[i].attribute, function);
        if (result != CUDA_SUCCESS)
            return runtime_result(result);
        const size_t wide = (size_t)value;
        memcpy((char *)attr + rows[i].offset, rows[i].bytes == sizeof wide ? (const void *)&wide : &value,
               rows[i].bytes);
    }
    return cudaSuccess;
}
